import Type from "typebox";
import type { Static } from "typebox";

export const config = Type.Object(
  {
    access_token: Type.String({
      pattern: "^\\S{16,400}$",
      title: "Access token",
      description: "The app's access token, from the page Authentication of the Developer Hub.",
    }),
    client_secret: Type.String({
      pattern: "^\\S{16,200}$",
      title: "Client secret",
      description: "The app's client secret, from its page Basic information. Intercom signs its deliveries with it.",
    }),
    app_id: Type.String({
      pattern: "^[A-Za-z0-9_-]{3,64}$",
      title: "Workspace ID",
      description: "The part after /apps/ in the address of your Intercom.",
    }),
    admin_id: Type.String({
      pattern: "^[0-9]{1,20}$",
      title: "Parley's teammate",
      description: "The ID of the teammate in whose name Parley answers. No person may use this teammate.",
    }),
    handover_to_team: Type.Optional(
      Type.String({
        pattern: "^[0-9]{1,20}$",
        title: "Team for hand-overs",
        description: "The ID of the team that gets the conversations which the bot hands over. Default: none.",
      }),
    ),
    handover_to_admin: Type.Optional(
      Type.String({
        pattern: "^[0-9]{1,20}$",
        title: "Teammate for hand-overs",
        description: "The ID of the teammate who gets the conversations which the bot hands over. Default: none.",
      }),
    ),
    region: Type.Optional(
      Type.Union([Type.Literal("us"), Type.Literal("eu"), Type.Literal("au")], {
        title: "Region",
        description: "The region where Intercom hosts the workspace. Default: us.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        title: "Server of the API",
        advanced: true,
        description:
          "The address of another server of the API, without a slash at the end. Default: that of the region.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type IntercomConfig = Static<typeof config>;

export type Region = NonNullable<IntercomConfig["region"]>;

export interface Assignee {
  readonly type: "admin" | "team";
  readonly id: string;
}

export interface Settings {
  readonly accessToken: string;
  readonly clientSecret: string;
  readonly appId: string;
  readonly adminId: string;
  /** The team and teammate that handed-over conversations are assigned to. */
  readonly handoverTo: readonly Assignee[];
  readonly region: Region;
  readonly baseUrl: string;
}

const servers: Readonly<Record<Region, string>> = {
  us: "https://api.intercom.io",
  eu: "https://api.eu.intercom.io",
  au: "https://api.au.intercom.io",
};

export function settingsOf(given: IntercomConfig): Settings {
  const { region = "us", handover_to_team: team, handover_to_admin: admin } = given;
  if (admin === given.admin_id) {
    throw new Error("handover_to_admin is Parley's own teammate: set it to a person, or take it out");
  }
  return {
    accessToken: given.access_token,
    clientSecret: given.client_secret,
    appId: given.app_id,
    adminId: given.admin_id,
    handoverTo: [
      ...(team === undefined ? [] : [{ type: "team", id: team } as const]),
      ...(admin === undefined ? [] : [{ type: "admin", id: admin } as const]),
    ],
    region,
    baseUrl: given.base_url ?? servers[region],
  };
}
