import { Button } from "#web/shared/ui/elements.tsx";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { FieldFrame } from "#web/dashboard/ui/fields/field.tsx";
import type { GroupRole } from "./provider.ts";

const roles = [
  ["viewer", "Viewer"],
  ["agent", "Agent"],
  ["admin", "Administrator"],
] as const;

/** Roles and teams by group. `teams`: names to choose from. */
export function GroupsField(props: { readonly of: Field<readonly GroupRole[]>; readonly teams: readonly string[] }) {
  const { of: field, teams } = props;
  const groups = field.value;
  const change = (at: number, next: Partial<GroupRole>): void =>
    field.set(groups.map((group, i) => (i === at ? { ...group, ...next } : group)));
  return (
    <FieldFrame
      of={field}
      isGroup
      label="Roles by group"
      hint="The highest role of a person's groups counts. Without any group, roles are set on the page Team."
    >
      {() => (
        <div class="group-roles">
          {groups.map(({ group, role, team }, at) => (
            <div class="group-role" key={at} role="group" aria-label={`Group ${at + 1}`}>
              <input
                aria-label="Group"
                placeholder="Name or id of the group"
                dir="auto"
                required
                maxLength={200}
                value={group}
                onInput={({ currentTarget }) => change(at, { group: currentTarget.value })}
              />
              <select
                aria-label="Role"
                value={role}
                onChange={({ currentTarget }) => change(at, { role: currentTarget.value })}
              >
                {roles.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
              <select
                aria-label="Team"
                value={team}
                onChange={({ currentTarget }) => change(at, { team: currentTarget.value })}
              >
                <option value="">No team</option>
                {[...new Set([...teams, ...(team === "" ? [] : [team])])].map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
              <Button
                label="Remove"
                kind="plain"
                aria-label={`Remove group ${at + 1}`}
                onClick={() => field.set(groups.filter((_, i) => i !== at))}
              />
            </div>
          ))}
          <Button
            label="Add a group"
            kind="secondary"
            onClick={() => field.set([...groups, { group: "", role: "agent", team: "" }])}
          />
        </div>
      )}
    </FieldFrame>
  );
}
