import { Type } from "typebox";
import { deskMirrors, deskReplyModes } from "#domain/workspace/settings.ts";
import { closed, text } from "./values.ts";

export const deskSchema = closed(
  {
    kind: Type.Enum(["slack"], { description: "On which platform." }),
    account: text("Name of the account below channels whose app the agents have in their workspace.", 60),
    channel: Type.String({
      pattern: "^[CG][A-Z0-9]{5,30}$",
      description:
        "Id of the channel that the conversations are shown in, such as C0123456789, from the foot of its details in Slack.",
    }),
    mirror: Type.Optional(
      Type.Enum([...deskMirrors], {
        description: "escalated shows the conversations that were handed to people, every all of them.",
      }),
    ),
    reply_mode: Type.Optional(
      Type.Enum([...deskReplyModes], {
        description: "implicit sends what an agent writes in a thread; explicit only by the Send button.",
      }),
    ),
  },
  "Where agents work besides the inbox.",
);
