import Type from "typebox";
import type { Static } from "typebox";

export const config = Type.Object(
  {
    url: Type.String({ pattern: "^https?://", description: "The platform's address." }),
    token: Type.String({ description: "The bot's token." }),
    signing_secret: Type.String({ description: "What deliveries are signed with." }),
  },
  { additionalProperties: false },
);

export type SampleConfig = Static<typeof config>;
