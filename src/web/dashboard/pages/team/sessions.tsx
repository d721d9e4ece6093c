import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { Badge, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";

interface Session {
  readonly id: string;
  readonly device: string | null;
  readonly network: string | null;
  readonly current: boolean;
  readonly last_seen_at: string | null;
  readonly created_at: string;
}

const nameOf = ({ device }: Session): string => device ?? "Unknown device";

/** The sessions of an agent, which can be ended. */
export function AgentSessions({ id }: { readonly id: string }) {
  const path = `agents/${id}/sessions`;
  const sessions = useResource(
    async () => (await api.get<{ readonly sessions: readonly Session[] }>(path)).sessions,
    [id],
  );
  const [ending, setEnding] = useState<Session | "all">();
  const hasSessions = (sessions.data?.length ?? 0) > 0;
  return (
    <Section
      title="Sessions"
      lead="Browsers in which the agent is signed in."
      actions={
        hasSessions && (
          <Button label="Sign out everywhere" kind="secondary" shape="leave" onClick={() => setEnding("all")} />
        )
      }
    >
      <Loaded of={sessions} lines={2}>
        {(rows) => <SessionTable sessions={rows} end={setEnding} />}
      </Loaded>
      {ending !== undefined && (
        <ConfirmDialog
          title={ending === "all" ? "Sign out everywhere?" : `End the session of ${nameOf(ending)}?`}
          confirm={ending === "all" ? "Sign out" : "End the session"}
          done={ending === "all" ? "Signed out everywhere." : "Session ended."}
          run={async () => {
            await api.del(ending === "all" ? path : `${path}/${ending.id}`);
            await sessions.reload();
          }}
          closed={() => setEnding(undefined)}
        >
          <p>The inbox closes there at once. The agent can sign in again.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const SessionTable = (props: { readonly sessions: readonly Session[]; readonly end: (session: Session) => void }) => (
  <DataTable
    caption="Sessions"
    rows={props.sessions}
    rowKey={({ id }) => id}
    empty={<p class="soft">Not signed in anywhere.</p>}
    columns={[
      {
        header: "Device",
        cell: (session) => (
          <>
            {nameOf(session)} {session.current && <Badge tone="good">This one</Badge>}
          </>
        ),
      },
      { header: "Network", cell: ({ network }) => <code>{network ?? "unknown"}</code> },
      { header: "Last seen", cell: ({ last_seen_at: at }) => <RelativeTime at={at} none="unknown" /> },
      { header: "Since", cell: ({ created_at: at }) => <RelativeTime at={at} /> },
      {
        header: "Actions",
        isHeaderHidden: true,
        align: "end",
        cell: (session) => (
          <Button
            label={`End the session of ${nameOf(session)}`}
            kind="icon"
            shape="leave"
            onClick={() => props.end(session)}
          />
        ),
      },
    ]}
  />
);
