import { Content } from "#web/shared/ui/content.tsx";
import { CopyButton, CopyField } from "#web/dashboard/ui/copy.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { useDashboard } from "#web/dashboard/store.ts";
import type { ChannelKind, SetupFile } from "./types.ts";

/** The steps at the platform, for beside the form. */
export const Steps = ({ of: { step_blocks: steps } }: { readonly of: ChannelKind }) => (
  <Section title="Steps">
    <Content of={steps} kind="prose" />
  </Section>
);

/** The address of the account that the form connects, where the administrator enters it at the platform. */
export const NewAddress = ({ of: { new_account: account } }: { readonly of: ChannelKind }) =>
  account !== null && (
    <CopyField
      label="Webhook address"
      value={account.webhook_url}
      hint="It belongs to the channel that this form connects, and takes deliveries from then on. Another visit to the form shows another one."
    />
  );

/** Files that the platform takes, to copy. `isNew`: with links, by which the browser takes them to the platform. */
export const SetupTexts = ({
  of: files,
  isNew = false,
}: {
  readonly of: readonly SetupFile[];
  readonly isNew?: boolean;
}) =>
  files.map(({ label, text, link }) => (
    <Section key={label} title={label}>
      <div class="row-actions">
        {isNew && (
          <a class="primary" href={link.url} target="_blank" rel="noreferrer">
            {link.label}
          </a>
        )}
        <CopyButton text={text} label="Copy the file" />
      </div>
      <details class="advanced">
        <summary>Show the file</summary>
        <pre class="code" dir="ltr" tabIndex={0} aria-label={label}>
          {text}
        </pre>
      </details>
    </Section>
  ));

/** Shown where the platform cannot reach this installation. */
export function AddressNotice({ of: { label, public_address: need } }: { readonly of: ChannelKind }) {
  const { public_url: url } = useDashboard().me.value;
  if (need !== "required" || url.startsWith("https:")) return null;
  return (
    <Callout tone="wait">
      <p>
        {label} needs a public https address. This installation is at {url}: set PUBLIC_URL and start Parley again.
      </p>
    </Callout>
  );
}
