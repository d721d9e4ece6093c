import { Button } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import { api } from "#web/dashboard/api.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { Badge, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";

interface Session {
  readonly id: string;
  readonly method: "link" | "password" | "provider" | null;
  readonly device: string | null;
  readonly network: string | null;
  readonly current: boolean;
  readonly last_seen_at: string | null;
}

const methods = { link: "Sign-in link", password: "Password", provider: "Single sign-on" } as const;

export function Sessions() {
  const { notices } = useDashboard();
  const sessions = useResource(
    async () => (await api.get<{ readonly sessions: readonly Session[] }>("me/sessions")).sessions,
    [],
  );
  async function end(path: string, done: string): Promise<void> {
    try {
      await api.del(path);
      notices.done(done);
    } catch (error) {
      notices.problem(messageOf(error));
    }
    await sessions.reload();
  }
  const hasOthers = sessions.data?.some(({ current }) => !current) === true;
  return (
    <Section
      title="Sessions"
      lead="Browsers in which you are signed in."
      actions={
        hasOthers && (
          <Button
            label="End all others"
            kind="secondary"
            onClick={() => void end("me/sessions", "Other sessions ended.")}
          />
        )
      }
    >
      <Loaded of={sessions}>
        {(rows) => (
          <DataTable
            caption="Your sessions"
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              { header: "Browser", cell: ({ device }) => device ?? "Unknown" },
              { header: "Network", cell: ({ network }) => <code>{network ?? "unknown"}</code> },
              { header: "Signed in by", cell: ({ method }) => (method === null ? "" : methods[method]) },
              {
                header: "Last used",
                cell: ({ current, last_seen_at: at }) =>
                  current ? <Badge tone="good">This one</Badge> : <RelativeTime at={at} />,
              },
              {
                header: "Actions",
                isHeaderHidden: true,
                align: "end",
                cell: ({ id, current, device }) =>
                  !current && (
                    <Button
                      label={`End the session of ${device ?? "an unknown browser"}`}
                      kind="icon"
                      shape="leave"
                      onClick={() => void end(`me/sessions/${id}`, "Session ended.")}
                    />
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
