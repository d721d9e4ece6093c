import type { ComponentChildren } from "preact";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useCanWrite, useDashboard, useListedPages } from "#web/dashboard/store.ts";
import { CopyField } from "#web/dashboard/ui/copy.tsx";
import { Badge } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import type { Overview } from "./types.ts";

/** Leads a new workspace to its first answer. Each step is ticked by the server when it is done. */
export function FirstSteps(props: { readonly of: Overview["first_steps"]; readonly reload: () => Promise<void> }) {
  const { of: steps, reload } = props;
  const { me, notices } = useDashboard();
  const canWrite = useCanWrite();
  if (steps.dismissed) return null;
  const { agent, workspace, public_url: url } = me.value;

  async function dismiss(): Promise<void> {
    try {
      await api.del("overview/first-steps");
    } catch (error) {
      notices.report(error);
    }
    await reload();
  }
  return (
    <Section
      title="First steps"
      lead="From nothing to answers on your own site."
      actions={canWrite && <Button label="Hide" kind="secondary" onClick={() => void dismiss()} />}
    >
      <ol class="first-steps">
        <Step isDone={steps.documents} title="Add documents" page="documents">
          The assistant answers from your files, websites and articles only.
        </Step>
        {steps.documents && steps.manual && (
          <Step isDone={false} title="Remove the built-in manual" page="documents">
            Until then customers can get answers about Parley itself.
          </Step>
        )}
        <Step isDone={steps.question} title="Ask a first question" href={`/chat/${workspace.id}`}>
          Write as a customer would. “Try a question” shows what decided, and stores nothing.
        </Step>
        <Step isDone={steps.widget} title="Put the widget on your site" page="widget">
          Done when the first customer has written in it.
          {!steps.widget && (
            <CopyField
              label="Code for your pages"
              value={`<script src="${url}/widget.js" data-workspace="${workspace.id}" async></script>`}
            />
          )}
        </Step>
        <Step isDone={steps.channel} title="Connect a channel" page="channels">
          E-mail, Slack, Telegram, WhatsApp and others come into the same inbox.
        </Step>
        <Step isDone={agent.has_password} title="Choose a password" page="account">
          The link that you came by works once. A password lets you in again.
        </Step>
        <Step isDone={steps.colleague} title="Invite a colleague" page="team">
          They take over when the assistant has no answer.
        </Step>
      </ol>
    </Section>
  );
}

function Step(props: {
  readonly isDone: boolean;
  readonly title: string;
  /** The page of the dashboard where it is done. */
  readonly page?: string;
  readonly href?: string;
  readonly children: ComponentChildren;
}) {
  const { isDone, title, page } = props;
  const listed = useListedPages();
  const own = listed.some(({ path }) => path === page) ? addressOf(page ?? "") : undefined;
  const href = props.href ?? own;
  return (
    <li class="box">
      <div class="row-actions">
        {href === undefined ? (
          <b>{title}</b>
        ) : (
          <a href={href}>
            <b>{title}</b>
          </a>
        )}
        {isDone ? <Badge tone="good">Done</Badge> : <Badge tone="wait">To do</Badge>}
      </div>
      <div class="soft">{props.children}</div>
    </li>
  );
}
