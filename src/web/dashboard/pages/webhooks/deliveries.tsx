import { useState } from "preact/hooks";
import { Dialog, closeDialog } from "#web/shared/ui/dialog.tsx";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useDashboard, useQuery } from "#web/dashboard/store.ts";
import { FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { FilterBar, FilterSelect } from "#web/dashboard/ui/filters.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import type { Tone } from "#web/dashboard/ui/marks.tsx";
import { Badge, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, ShowMore, usePaged, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { Delivery, DeliveryDetail } from "./types.ts";

/**
 * Attempts of an endpoint, newest first, with the request and the response of each, and the replay. `reloaded` is called
 * when the endpoint's state may have changed with them.
 */
export function DeliveryLog({ id, reloaded }: { readonly id: string; readonly reloaded: () => Promise<void> }) {
  const [outcome, setOutcome] = useQuery("outcome");
  const failed = outcome === "failed" ? "true" : undefined;
  const log = usePaged<Delivery>(
    (cursor) => api.page(`webhooks/${id}/deliveries`, "deliveries", { failed, cursor }),
    [id, failed],
  );
  const [shown, setShown] = useState<number>();
  const [isReplaying, setReplaying] = useState(false);
  const reload = async (): Promise<void> => {
    await Promise.all([log.reload(), reloaded()]);
  };
  return (
    <Section
      title="Deliveries"
      lead="Failed events are sent again with growing pauses, for five days."
      actions={
        <>
          <Button label="Reload" kind="secondary" shape={icons.reload} onClick={() => void reload()} />
          <Button label="Send a period again" kind="secondary" onClick={() => setReplaying(true)} />
        </>
      }
    >
      <FilterBar>
        <FilterSelect
          label="Outcome"
          all="All attempts"
          options={[{ value: "failed", label: "Failed attempts" }]}
          value={outcome}
          set={setOutcome}
        />
      </FilterBar>
      <Loaded of={log}>{(rows) => <LogTable rows={rows} show={setShown} />}</Loaded>
      <ShowMore of={log} />
      {shown !== undefined && (
        <DeliveryDialog endpoint={id} id={shown} closed={() => setShown(undefined)} sent={reloaded} />
      )}
      {isReplaying && <ReplayDialog id={id} closed={() => setReplaying(false)} reload={reload} />}
    </Section>
  );
}

const tones: Readonly<Record<Delivery["outcome"], readonly [Tone, string]>> = {
  delivered: ["good", "Delivered"],
  retry: ["wait", "Will be retried"],
  given_up: ["bad", "Given up"],
  disabled: ["bad", "Endpoint disabled"],
};

function Outcome({ of: { outcome } }: { readonly of: Delivery }) {
  const [tone, label] = tones[outcome];
  return <Badge tone={tone}>{label}</Badge>;
}

const LogTable = (props: { readonly rows: readonly Delivery[]; readonly show: (id: number) => void }) => (
  <DataTable
    caption="Delivery attempts"
    rows={props.rows}
    rowKey={({ id }) => id}
    empty={
      <Empty shape={icons.webhook} title="Nothing was sent yet">
        <p>Send a test event to see how your server answers.</p>
      </Empty>
    }
    columns={[
      { header: "Event", cell: ({ type, event_id: event }) => type ?? event },
      { header: "Outcome", cell: (row) => <Outcome of={row} /> },
      { header: "Answer", cell: ({ status, error }) => error ?? status ?? "none" },
      { header: "Attempt", align: "end", cell: ({ attempt }) => String(attempt) },
      { header: "Took", align: "end", cell: ({ duration_ms: ms }) => `${ms} ms` },
      { header: "When", cell: ({ at }) => <RelativeTime at={at} /> },
      {
        header: "Actions",
        isHeaderHidden: true,
        align: "end",
        cell: ({ id }) => (
          <Button label={`Show attempt ${id}`} kind="icon" shape="search" onClick={() => props.show(id)} />
        ),
      },
    ]}
  />
);

function DeliveryDialog(props: {
  readonly endpoint: string;
  readonly id: number;
  readonly closed: () => void;
  /** Called after an event was sent again. */
  readonly sent: () => Promise<void>;
}) {
  const { notices } = useDashboard();
  const { endpoint, id, closed, sent } = props;
  const detail = useResource(() => api.get<DeliveryDetail>(`webhooks/${endpoint}/deliveries/${id}`), [id]);
  const replay = async (event: string): Promise<void> => {
    try {
      await api.post(`webhooks/${endpoint}/replay`, { event_id: event });
      notices.done("The event is sent again.");
      await sent();
    } catch (error) {
      notices.report(error);
    }
  };
  return (
    <Dialog title="Delivery attempt" closed={closed}>
      <Loaded of={detail}>
        {(found) => (
          <>
            <p>
              <Outcome of={found} /> {found.error ?? `Answer ${found.status ?? "none"}`} after {found.duration_ms} ms
            </p>
            <h3>Request</h3>
            <Headers lines={found.request_headers} />
            <pre class="code" dir="ltr" tabIndex={0}>
              {found.request === null ? "The event is older than 30 days." : pretty(found.request)}
            </pre>
            <h3>Response</h3>
            <Headers lines={found.response_headers} />
            <pre class="code" dir="ltr" tabIndex={0}>
              {found.response ?? "No body."}
            </pre>
            <div class="form-actions">
              <Button label="Close" kind="secondary" onClick={closeDialog} />
              {found.request !== null && (
                <Button
                  label="Send it again"
                  kind="primary"
                  onClick={(event) => {
                    closeDialog(event);
                    void replay(found.event_id);
                  }}
                />
              )}
            </div>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

const Headers = ({ lines }: { readonly lines: string | null }) =>
  lines === null ? null : (
    <details>
      <summary>Headers</summary>
      <pre class="code" dir="ltr" tabIndex={0}>
        {lines}
      </pre>
    </details>
  );

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    // It is shown as it was sent.
    return json;
  }
}

function ReplayDialog(props: {
  readonly id: string;
  readonly closed: () => void;
  readonly reload: () => Promise<void>;
}) {
  const { notices } = useDashboard();
  return (
    <FormDialog
      title="Send a period again"
      label="Send again"
      initial={{ since: "", until: "", failed: true }}
      send={async ({ since, until, failed }) => {
        const { events } = await api.post<{ readonly events: number }>(`webhooks/${props.id}/replay`, {
          failed,
          ...(since !== "" && { since }),
          ...(until !== "" && { until }),
        });
        notices.done(events === 1 ? "1 event is sent again." : `${events} events are sent again.`);
        await props.reload();
      }}
      closed={props.closed}
    >
      {(form) => (
        <>
          <TextField of={form.field("since")} label="From" type="date" optional />
          <TextField of={form.field("until")} label="Until" type="date" optional />
          <SwitchField of={form.field("failed")} label="Only events that were never accepted" />
        </>
      )}
    </FormDialog>
  );
}
