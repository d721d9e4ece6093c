import { Type } from "typebox";
import { deskMirrors, deskReplyModes } from "#domain/workspace/settings.ts";
import { channelsWith } from "#channels/catalog.ts";
import { tagName } from "./automation.ts";
import { closed, oneOrMore, text } from "./values.ts";

const channelId = (description: string) => Type.String({ pattern: "^[CG][A-Z0-9]{5,30}$", description });

export const deskSchema = closed(
  {
    kind: Type.Enum([...channelsWith("desk")], { description: "The platform." }),
    account: text("Name of the account in channels whose app is in the agents' workspace.", 60),
    channel: channelId(
      "Id of the channel that shows the conversations, such as C0123456789, from the foot of its details in Slack.",
    ),
    team_channels: Type.Optional(
      Type.Array(
        closed(
          {
            tags: oneOrMore(tagName, "Tags of the team's conversations."),
            channel: channelId(
              "Id of the channel that shows them, such as C0123456789, from the foot of its details in Slack.",
            ),
          },
          "The channel of one team.",
        ),
        {
          description: "Channels of single teams. A conversation is shown in the first one whose tags it has.",
          maxItems: 50,
        },
      ),
    ),
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
