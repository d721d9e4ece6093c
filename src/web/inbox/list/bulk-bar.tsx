import { useInbox } from "#web/inbox/inbox-store.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import { agentChoices, shortName } from "#web/inbox/ui/labels.ts";
import { Menu } from "#web/shared/ui/menu.tsx";
import { TagForm } from "#web/inbox/ui/tag-form.tsx";
import { conversations } from "./selection.ts";

/** Shows how many conversations are chosen, and what can be done with them. */
export function BulkBar() {
  const { selection } = useInbox();
  const items = selection.items.value;
  const refusals = selection.refusals.value;
  // Not disabled during a change: a disabled control loses the focus, and a second press is ignored.
  const isNone = items.length === 0;
  return (
    <div class="bulk" role="group" aria-label="Chosen conversations" hidden={!selection.isOpen.value}>
      <div class="bulk-head">
        <p class="bulk-count" role="status">
          {isNone ? "Choose conversations" : `${items.length} chosen`}
        </p>
        <Button label="Choose all shown" onClick={selection.chooseAll} />
        <Button label="Stop choosing" kind="icon" shape="close" onClick={selection.stop} />
      </div>
      <div class="bulk-actions">
        <AssignMenu disabled={isNone} />
        <Button
          label="Resolve"
          kind="secondary"
          shape="check"
          disabled={items.every(({ status }) => status === "resolved" || status === "archived")}
          onClick={() => void selection.change({ action: "resolve" }, "resolved")}
        />
        <Button
          label="Archive"
          kind="secondary"
          disabled={items.every(({ status }) => status !== "resolved")}
          onClick={() => void selection.change({ action: "archive" }, "archived")}
        />
        <TagForm
          label="Add a tag to the chosen conversations"
          placeholder="Tag"
          kind="tag-form bulk-tag"
          disabled={isNone}
          add={(tag) => selection.change({ action: "tag", tag }, `tagged ${tag}`)}
        />
      </div>
      <div class="bulk-refusals" role="alert">
        {refusals.length > 0 && <p>{conversations(refusals.length)} could not be changed:</p>}
        {refusals.length > 0 && (
          <ul>
            {refusals.map(({ customer, reason }, index) => (
              <li key={index}>
                <bdi>{customer}</bdi>: {reason}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function AssignMenu({ disabled }: { readonly disabled: boolean }) {
  const { selection, team, me } = useInbox();
  return (
    <Menu
      label="Assign"
      shape="person"
      disabled={disabled}
      choices={() => {
        // The state that the agent saw when the choice was offered decides about conflicts.
        const offered = selection.items.value;
        void team.loadAgents();
        return agentChoices(team.agents.value, me.agent.email).map(({ email, label }) => ({
          label,
          choose: () =>
            void selection.change({ action: "assign", to: email }, `assigned to ${shortName(label)}`, offered),
        }));
      }}
    />
  );
}
