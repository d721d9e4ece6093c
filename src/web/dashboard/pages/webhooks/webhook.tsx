import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Callout, ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import type { Resource } from "#web/dashboard/ui/resource.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { ShownOnceDialog } from "#web/dashboard/ui/shown-once-dialog.tsx";
import { DeliveryLog } from "./deliveries.tsx";
import { WebhookFields, WebhookState } from "./fields.tsx";
import type { WebhookValues } from "./fields.tsx";
import type { Webhook } from "./types.ts";

/** One endpoint: its settings, a test, and its delivery log. */
export function WebhookPage({ id }: { readonly id: string }) {
  const webhook = useResource(async () => {
    const { webhooks } = await api.get<{ readonly webhooks: readonly Webhook[] }>("webhooks");
    const found = webhooks.find((each) => each.id === id);
    if (found === undefined) throw new Error("This webhook does not exist any more.");
    return found;
  }, [id]);
  // A test is a delivery: the log begins again.
  const [tests, setTests] = useState(0);
  return (
    <>
      <PageHead title="Webhook" back={{ label: "Webhooks", href: addressOf("webhooks") }} lead={webhook.data?.url} />
      <Loaded of={webhook}>
        {(found) => <Details of={found} resource={webhook} tested={() => setTests(tests + 1)} />}
      </Loaded>
      <DeliveryLog key={tests} id={id} reloaded={webhook.reload} />
    </>
  );
}

type Open = "change" | "rotate" | "remove";

function Details(props: {
  readonly of: Webhook;
  readonly resource: Resource<Webhook>;
  /** Called after a test event. */
  readonly tested: () => void;
}) {
  const { of: webhook, resource, tested } = props;
  const { notices } = useDashboard();
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<string>();
  const path = `webhooks/${webhook.id}`;
  const isOwn = webhook.managed_by !== "file";

  async function run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      notices.report(error);
    }
    await resource.reload();
  }
  const setEnabled = (enabled: boolean) =>
    run(async () => {
      await api.patch(path, { enabled });
      notices.done(enabled ? "Webhook enabled." : "Webhook disabled.");
    });
  const test = () =>
    run(async () => {
      const { delivered, status, error } = await api.post<{
        readonly delivered: boolean;
        readonly status: number | null;
        readonly error: string | null;
      }>(`${path}/test`);
      tested();
      if (delivered) notices.done(`Test event delivered: ${status}.`);
      else notices.problem(`Test event not delivered: ${error ?? status}.`);
    });

  return (
    <>
      <p class="row-actions">
        <WebhookState of={webhook} />
        {!isOwn && <ManagedByFile />}
        <span class="soft">{webhook.events.join(", ")}</span>
      </p>
      {webhook.disabled_reason !== null && <Callout tone="bad">Disabled: {webhook.disabled_reason}</Callout>}
      <div class="row-actions">
        <Button label="Send a test event" kind="secondary" shape={icons.play} onClick={() => void test()} />
        {isOwn && webhook.state === "disabled" && (
          <Button label="Enable" kind="secondary" onClick={() => void setEnabled(true)} />
        )}
        {isOwn && webhook.state !== "disabled" && (
          <Button label="Disable" kind="secondary" shape={icons.pause} onClick={() => void setEnabled(false)} />
        )}
        {isOwn && <Button label="Change" kind="secondary" shape={icons.edit} onClick={() => setOpen("change")} />}
        {isOwn && <Button label="Rotate secret" kind="secondary" onClick={() => setOpen("rotate")} />}
        {isOwn && <Button label="Remove" kind="secondary" shape={icons.trash} onClick={() => setOpen("remove")} />}
      </div>
      <WebhookDialog
        of={webhook}
        open={open}
        close={() => setOpen(undefined)}
        reload={resource.reload}
        made={setSecret}
      />
      {secret !== undefined && (
        <ShownOnceDialog
          title="The new secret"
          label="Signing secret"
          value={secret}
          hint="Copy it now. It is not shown again."
          closed={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

function WebhookDialog(props: {
  readonly of: Webhook;
  readonly open: Open | undefined;
  readonly close: () => void;
  readonly reload: () => Promise<void>;
  /** Called with a new secret. */
  readonly made: (secret: string) => void;
}) {
  const { of: webhook, open, close, reload, made } = props;
  const { router } = useDashboard();
  const path = `webhooks/${webhook.id}`;
  switch (open) {
    case "change":
      return (
        <FormDialog<WebhookValues>
          title="Change the webhook"
          label="Save"
          done="Saved."
          initial={{ url: webhook.url, events: webhook.events }}
          send={async (values) => {
            await api.patch(path, values);
            await reload();
          }}
          closed={close}
        >
          {(form) => <WebhookFields form={form} />}
        </FormDialog>
      );
    case "rotate":
      return (
        <ConfirmDialog
          title="Rotate the secret?"
          confirm="Make a new secret"
          run={async () => made((await api.post<{ readonly secret: string }>(`${path}/rotate`)).secret)}
          closed={close}
        >
          <p>Requests are signed with both secrets for a day. Change it on your server within that time.</p>
        </ConfirmDialog>
      );
    case "remove":
      return (
        <ConfirmDialog
          title="Remove the webhook?"
          confirm="Remove"
          done="Webhook removed."
          run={async () => {
            await api.del(path);
            setTimeout(() => router.go(addressOf("webhooks")));
          }}
          closed={close}
        >
          <p>Its delivery log is deleted, and {webhook.waiting} waiting events are not sent.</p>
        </ConfirmDialog>
      );
    case undefined:
      return null;
  }
}
