import { Button } from "#web/shared/ui/elements.tsx";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { memberOf } from "#web/dashboard/ui/fields/field.tsx";
import { SecretField } from "#web/dashboard/ui/fields/secret.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { HeaderRow } from "./skill.ts";

/** Headers of a request. Their values are written and never read. */
export function HeaderFields({ of: field }: { readonly of: Field<readonly HeaderRow[]> }) {
  const { value: rows, set, errors } = field;
  return (
    <>
      {rows.map((row, at) => {
        const own: Field<HeaderRow> = {
          name: `headers.${at}`,
          value: row,
          set: (next) => set(rows.map((each, i) => (i === at ? next : each))),
          errors,
        };
        const label = row.name === "" ? "Value" : `Value of ${row.name}`;
        return (
          <div key={at} class="rule-part">
            <div class="stack">
              {!row.isSet && (
                <TextField
                  of={memberOf(own, "name")}
                  label="Header"
                  placeholder="authorization"
                  maxLength={100}
                  mono
                  required
                />
              )}
              <SecretField
                of={memberOf(own, "value")}
                label={label}
                isSet={row.isSet}
                placeholder="Bearer …"
                required={!row.isSet}
              />
            </div>
            <Button
              label="Remove"
              kind="plain"
              aria-label={`Remove the header ${row.name}`}
              onClick={() => set(rows.filter((_, i) => i !== at))}
            />
          </div>
        );
      })}
      <div>
        <Button
          label="Add a header"
          kind="secondary"
          onClick={() => set([...rows, { name: "", value: undefined, isSet: false }])}
        />
      </div>
    </>
  );
}
