import { Type } from "typebox";
import { deskMirrors, deskReplyModes } from "#domain/workspace/settings.ts";
import { channelsWith } from "#channels/catalog.ts";
import { closed, text } from "./values.ts";

export const deskSchema = closed(
  {
    kind: Type.Enum([...channelsWith("desk")], { description: "The platform." }),
    account: text("Name of the account in channels whose app is in the agents' workspace.", 60),
    channel: Type.String({
      pattern: "^[CG][A-Z0-9]{5,30}$",
      description:
        "Id of the channel that shows the conversations, such as C0123456789, from the foot of its details in Slack.",
    }),
    mirror: Type.Optional(
      Type.Enum([...deskMirrors], {
        description: "escalated: shows conversations handed over to people. every: shows all.",
      }),
    ),
    reply_mode: Type.Optional(
      Type.Enum([...deskReplyModes], {
        description: "implicit: sends what an agent writes in a thread. explicit: sends by the Send button only.",
      }),
    ),
  },
  "Where agents work besides the inbox.",
);
