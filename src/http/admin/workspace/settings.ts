import type { TSchema } from "typebox";
import { Type } from "typebox";
import { plans } from "#domain/workspace/settings.ts";
import { changePlan } from "#admin/settings/plan.ts";
import { builtInTexts, listSettings, updateSettings } from "#admin/settings/settings.ts";
import type { SettingKey } from "#config/setting-keys.ts";
import { allSettingKeys, settingSchema } from "#config/setting-keys.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const setting = Type.Object(
  {
    value: Type.Unknown({ description: "As in the configuration file; null: none" }),
    default: Type.Unknown(),
    managed_by_file: Type.Boolean({ description: "The configuration file sets it, and it cannot be changed here" }),
    description: Type.String(),
  },
  { title: "Setting" },
);

const settingsList = Type.Object(
  {
    workspace: Type.Object({ id: Type.String(), name: Type.String() }),
    plan: Type.Object(
      {
        name: Type.Enum([...plans]),
        limit_minute: Type.Integer(),
        limit_day: Type.Integer(),
        queries_per_month: schemas.nullable(Type.Integer({ description: "Null: no limit" })),
        retention_days: Type.Integer(),
        managed_by_file: Type.Boolean({ description: "The configuration file names the plan" }),
      },
      { description: "What the plan allows" },
    ),
    settings: Type.Record(Type.String(), setting, { description: "By key, such as `widget.title`" }),
    model_tokens_this_month: Type.Integer({ description: "Tokens of the language model since the month began (UTC)" }),
  },
  { title: "SettingsList" },
);

const listSchema = {
  tags: ["Administration"],
  operationId: "listSettings",
  summary: "List every setting with its default",
  response: adminResponses({ 200: settingsList }, []),
};

const textsSchema = {
  tags: ["Administration"],
  operationId: "listBuiltInTexts",
  summary: "List the bot's built-in sentences by language",
  response: adminResponses(
    {
      200: Type.Object(
        { texts: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())) },
        { title: "BuiltInTexts" },
      ),
    },
    [],
  ),
};

const updateSchema = {
  tags: ["Administration"],
  operationId: "updateSettings",
  summary: "Change settings: all of those given, or none",
  body: Type.Object(
    {
      settings: Type.Optional(
        Type.Object(
          Object.fromEntries(allSettingKeys.map((key): [string, TSchema] => [key, Type.Optional(settingSchema(key))])),
          { description: "New values by key, as in the configuration file", title: "SettingValues" },
        ),
      ),
      was: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            "Values that were read before, by key; `edit_conflict` if one of these settings has changed since",
        }),
      ),
      reset: Type.Optional(
        Type.Array(Type.Enum([...allSettingKeys]), {
          maxItems: allSettingKeys.length,
          description: "Settings that get their defaults",
        }),
      ),
    },
    { title: "SettingsUpdate" },
  ),
  response: adminResponses({ 200: settingsList }, [
    ...schemas.withBody,
    "invalid_strictness",
    "managed_by_file",
    "feature_not_in_plan",
    "edit_conflict",
  ]),
};

const planSchema = {
  tags: ["Administration"],
  operationId: "changePlan",
  summary: "Change the plan; a lower one is refused while something in use needs the present one",
  body: Type.Object({ plan: Type.Enum([...plans]) }, { title: "PlanChange" }),
  response: adminResponses({ 200: settingsList }, [...schemas.withBody, "managed_by_file", "plan_downgrade_blocked"]),
};

/** The settings of the workspace. Rules, skills and saved replies have routes of their own. */
export function settingsRoutes(app: App, { store, clock }: Resources): void {
  app.get("/settings", { config: { least: "viewer" }, schema: listSchema }, (request) =>
    listSettings(store.read, clock, administratorOf(request).workspaceId),
  );

  app.get("/settings/texts", { config: { least: "viewer" }, schema: textsSchema }, () => ({ texts: builtInTexts() }));

  app.patch("/settings", { schema: updateSchema }, async (request) => {
    const { workspaceId, actor } = administratorOf(request);
    const { settings = {}, reset = [], was = {} } = request.body;
    const values: Readonly<Partial<Record<SettingKey, unknown>>> = settings;
    await updateSettings({ store, clock }, { workspaceId, by: actor }, { settings: values, reset, was });
    return listSettings(store.read, clock, workspaceId);
  });

  app.put("/settings/plan", { schema: planSchema }, async (request) => {
    const { workspaceId, actor } = administratorOf(request);
    await changePlan({ store, clock }, { workspaceId, by: actor }, request.body.plan);
    return listSettings(store.read, clock, workspaceId);
  });
}
