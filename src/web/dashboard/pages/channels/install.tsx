import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { CopyField } from "#web/dashboard/ui/copy.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import type { JsonObject } from "#web/dashboard/ui/schema-form/schema.ts";
import { withoutEmpty } from "#web/dashboard/ui/schema-form/schema.ts";
import { SettingsFields } from "./settings-fields.tsx";
import type { ChannelAccount, ChannelKind, InstallForm } from "./types.ts";

/** Leaves for the platform's page, which leads back to the account, or to a page with the fix. */
async function leaveBy(path: string, given: object = {}): Promise<void> {
  const { url } = await api.post<{ readonly url: string }>(path, given);
  location.assign(url);
}

/** The app's credentials, and the way to the platform's page. */
export function Install({
  of: { channel, label, secrets },
  form: shown,
}: {
  readonly of: ChannelKind;
  readonly form: InstallForm;
}) {
  const form = useForm<{ readonly settings: JsonObject }>({ settings: shown.settings });
  return (
    <Form
      form={form}
      label={shown.label}
      send={({ settings }) => leaveBy(`channels/kinds/${channel}/install`, { settings: withoutEmpty(settings) })}
    >
      {!shown.redirect_url.startsWith("https:") && (
        <Callout tone="wait">
          <p>
            {label} may refuse a redirect URL that does not begin with https. Set PUBLIC_URL to an https address and
            start Parley again.
          </p>
        </Callout>
      )}
      <CopyField label="Redirect URL" value={shown.redirect_url} hint="The app must have it among its redirect URLs." />
      <SettingsFields
        schema={shown.schema}
        secrets={secrets}
        secretsSet={shown.secrets_set}
        of={form.field("settings")}
        errors={form.errors}
      />
    </Form>
  );
}

export function InstallAgain({ of: { id } }: { readonly of: ChannelAccount }) {
  const { notices } = useDashboard();
  return (
    <Button
      label="Install again"
      kind="secondary"
      onClick={() => void leaveBy(`channels/${id}/install`).catch((error: unknown) => notices.report(error))}
    />
  );
}
