import { Type } from "typebox";
import { accountStates } from "#admin/channels/list-accounts.ts";
import { idPattern } from "#domain/ids.ts";
import * as schemas from "#http/v1/schemas.ts";

export const setupFiles = Type.Array(
  Type.Object({
    label: Type.String(),
    text: Type.String(),
    link: Type.Object({
      label: Type.String(),
      url: Type.String({ description: "A page of the platform with the file" }),
    }),
  }),
  { description: "Files of which the platform takes one, such as an app's manifest" },
);

export const publicAddress = Type.Enum(["required", "optional", "no"], {
  description: "Whether the platform has to reach this installation at a public https address",
});

/** Checked by the schema of the channel, which differs. */
export const settings = Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), {
  maxProperties: 100,
  description: "Settings of the platform, by the schema of the channel's kind",
});

export const account = Type.Object(
  {
    id: Type.String(),
    channel: schemas.channel,
    label: Type.String({ description: "The channel's name, for people" }),
    name: Type.String(),
    managed_by: Type.Enum(["builtin", "file", "dashboard"], { description: "Only `dashboard` can be changed here" }),
    state: Type.Enum([...accountStates], {
      description:
        "`waiting`: keeps no connection and waits for deliveries; `starting`: no process has connected it yet with these settings",
    }),
    state_since: schemas.nullable(schemas.time),
    error: schemas.nullable(Type.String({ description: "The last failure, with its fix" })),
    error_at: schemas.nullable(schemas.time),
    last_event_at: schemas.nullable(schemas.time),
    webhook_url: schemas.nullable(Type.String({ description: "The address that the platform delivers to" })),
    settings: Type.Record(Type.String(), Type.Unknown(), { description: "Without secrets" }),
    secrets_set: Type.Array(Type.String(), { description: "Names of the secrets that are stored" }),
    test_address: schemas.nullable(
      Type.Object(
        { label: Type.String(), hint: Type.String(), is_email: Type.Boolean() },
        { description: "The address that a test message needs; null: only customers can begin a conversation" },
      ),
    ),
    setup_files: setupFiles,
    can_install: Type.Boolean({ description: "Its app can be installed again by the platform's own page" }),
    can_pause: Type.Boolean({ description: "False where only the configuration file pauses and resumes it" }),
    revision: Type.Integer({ description: "Grows with each change of the account" }),
    created_at: schemas.time,
  },
  { title: "ChannelAccount" },
);

export const newAccountId = Type.String({
  pattern: idPattern("acc"),
  allowed: "an id that `GET /admin/v1/channels/kinds/{channel}` has answered",
  description:
    "The `id` of the kind's `new_account`, whose address the account then has; `already_exists` if any workspace has used it. Absent: a new one",
});

export const accountParams = Type.Object({ id: Type.String() });
