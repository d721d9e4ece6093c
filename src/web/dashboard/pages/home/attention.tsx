import type { ComponentChildren } from "preact";
import { addressOf } from "#web/dashboard/router.ts";
import { useListedPages } from "#web/dashboard/store.ts";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import type { Overview } from "./types.ts";

/** Lists the problems of the workspace, each with its fix. */
export function Attention(props: { readonly of: Overview; readonly reload: () => Promise<void> }) {
  const { of: overview, reload } = props;
  const { channels, documents_failed: failed, webhooks, dead_letters: deadLetters, versions, system } = overview;
  const problems: readonly ComponentChildren[] = [
    ...system.map(({ name, cause }) => <Problem title={`${capital(name)}: ${cause ?? "does not work"}`} />),
    ...(versions.length === 0
      ? []
      : [
          <Problem
            title={`Processes of different versions run: ${versions.map((version) => version ?? "an earlier one").join(", ")}. Stop those of the old version.`}
          />,
        ]),
    ...channels.map(({ id, label, name, error }) => (
      <Problem
        title={`${label} (${name}) does not work${error === null ? "." : `: ${error}`}`}
        href={addressOf("channels", id)}
        fix="Open the channel"
      />
    )),
    ...(failed === 0
      ? []
      : [
          <Problem
            title={failed === 1 ? "A document could not be read." : `${failed} documents could not be read.`}
            href={`${addressOf("documents")}?status=failed`}
            fix="Show them"
          />,
        ]),
    ...(overview.model_budget_spent
      ? [
          <Problem
            title="The language model's tokens of this month are used up. Answers are the documents' own sentences."
            href={`${addressOf("settings")}?tab=limits`}
            fix="Change the limit"
          />,
        ]
      : []),
    ...webhooks.map(({ id, url, state, reason }) => (
      <Problem
        title={state === "failing" ? `The webhook ${url} fails.` : `The webhook ${url} is disabled: ${reason ?? ""}`}
        href={addressOf("webhooks", id)}
        fix="Open the webhook"
      />
    )),
  ];
  return (
    <Section title="Needs attention">
      {problems.length === 0 && deadLetters.length === 0 ? <Callout tone="good">Everything works.</Callout> : problems}
      <DeadLetters of={deadLetters} reload={reload} />
    </Section>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Problem({ title, href, fix }: { readonly title: string; readonly href?: string; readonly fix?: string }) {
  const listed = useListedPages();
  const isOpen =
    href !== undefined && (!href.startsWith("/dashboard") || listed.some(({ path }) => isBelow(href, path)));
  return (
    <Callout tone="bad">
      <span dir="auto">{title}</span> {isOpen && <a href={href}>{fix}</a>}
    </Callout>
  );
}

const isBelow = (href: string, path: string): boolean => path !== "" && href.startsWith(addressOf(path));
