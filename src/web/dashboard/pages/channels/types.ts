import type { Block } from "#channels/text/markdown.ts";
import type { JsonObject, JsonSchema } from "#web/dashboard/ui/schema-form/schema.ts";

/** Answers of `/admin/v1/channels`. */
export interface ChannelAccount {
  readonly id: string;
  readonly channel: string;
  readonly label: string;
  readonly name: string;
  readonly managed_by: "builtin" | "file" | "dashboard";
  readonly state: "connected" | "waiting" | "starting" | "broken" | "paused" | "disabled";
  readonly error: string | null;
  readonly error_at: string | null;
  readonly last_event_at: string | null;
  readonly webhook_url: string | null;
  readonly settings: JsonObject;
  readonly secrets_set: readonly string[];
  readonly test_address: { readonly label: string; readonly hint: string; readonly is_email: boolean } | null;
  readonly setup_files: readonly SetupFile[];
  readonly can_install: boolean;
  readonly can_pause: boolean;
  readonly revision: number;
}

export interface SetupFile {
  readonly label: string;
  readonly text: string;
  readonly link: { readonly label: string; readonly url: string };
}

export interface ListedKind {
  readonly channel: string;
  readonly provider: string | null;
  readonly label: string;
  readonly public_address: "required" | "optional" | "no";
}

export interface ChannelKind extends ListedKind {
  readonly schema: JsonSchema;
  readonly secrets: readonly string[];
  readonly step_blocks: readonly Block[];
  readonly setup_files: readonly SetupFile[];
  readonly new_account: { readonly id: string; readonly webhook_url: string } | null;
  readonly install: InstallForm | null;
}

/** The way to an account by the platform's own page. */
export interface InstallForm {
  readonly label: string;
  readonly schema: JsonSchema;
  readonly redirect_url: string;
  /** Settings of an installation that was begun before. */
  readonly settings: JsonObject;
  readonly secrets_set: readonly string[];
}
