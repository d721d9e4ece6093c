import { api } from "#web/dashboard/api.ts";

/** A setting, as `/admin/v1/settings` describes it. */
interface Setting {
  /** In the form of the configuration file. */
  readonly value: unknown;
  readonly default: unknown;
  readonly managed_by_file: boolean;
}

export interface SettingsList {
  readonly workspace: { readonly id: string; readonly name: string };
  readonly plan: {
    readonly name: string;
    readonly limit_minute: number;
    readonly limit_day: number;
    readonly queries_per_month: number | null;
    readonly retention_days: number;
    readonly managed_by_file: boolean;
  };
  readonly settings: Readonly<Record<string, Setting>>;
  readonly model_tokens_this_month: number;
}

/** The bot's built-in sentences: by language, and in it by name. */
export interface BuiltInTexts {
  readonly texts: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const loadSettings = (): Promise<SettingsList> => api.get<SettingsList>("settings");
export const loadTexts = (): Promise<BuiltInTexts> => api.get<BuiltInTexts>("settings/texts");

export const savePlan = (plan: string): Promise<SettingsList> => api.put<SettingsList>("settings/plan", { plan });

/** Changes those values that differ, unless a colleague has changed them since. Undefined, null and empty texts give a setting its default. */
export async function saveSettings(
  before: SettingsList,
  values: Readonly<Record<string, unknown>>,
): Promise<SettingsList> {
  const settings: Record<string, unknown> = {};
  const reset: string[] = [];
  const was: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const known = before.settings[key];
    if (
      known === undefined ||
      known.managed_by_file ||
      JSON.stringify(known.value ?? "") === JSON.stringify(value ?? "")
    )
      continue;
    was[key] = known.value;
    if (value === undefined || value === null || value === "") reset.push(key);
    else settings[key] = value;
  }
  return api.patch<SettingsList>("settings", { settings, reset, was });
}
