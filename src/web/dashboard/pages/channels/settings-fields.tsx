import { useMemo } from "preact/hooks";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { SchemaFields } from "#web/dashboard/ui/schema-form/schema-fields.tsx";
import type { JsonObject, JsonSchema } from "#web/dashboard/ui/schema-form/schema.ts";
import type { ChannelKind } from "./types.ts";

export interface AccountValues {
  readonly name: string;
  readonly settings: JsonObject;
}

export function AccountFields(props: {
  readonly kind: ChannelKind;
  readonly form: FormState<AccountValues>;
  readonly secretsSet: readonly string[];
}) {
  const { kind, form, secretsSet } = props;
  return (
    <>
      <TextField
        of={form.field("name")}
        label="Name"
        hint="For your team, such as Support bot."
        required
        maxLength={100}
      />
      <SettingsFields
        schema={kind.schema}
        secrets={kind.secrets}
        secretsSet={secretsSet}
        of={form.field("settings")}
        errors={form.errors}
      />
    </>
  );
}

/** The essential settings, and the others behind "Advanced". */
export function SettingsFields(props: {
  readonly schema: JsonSchema;
  readonly secrets: readonly string[];
  readonly secretsSet: readonly string[];
  readonly of: Field<JsonObject>;
  readonly errors: Readonly<Record<string, string>>;
}) {
  const { schema, secrets, secretsSet, of: settings, errors } = props;
  const [essential, advanced] = useMemo(() => [part(schema, false), part(schema, true)], [schema]);
  const names = Object.keys(advanced.properties ?? {});
  // A setting that has a value or an error must not be overlooked.
  const isOpen = names.some((name) => name in settings.value || `settings.${name}` in errors);
  return (
    <>
      <SchemaFields schema={essential} of={settings} secrets={secrets} secretsSet={secretsSet} />
      {names.length > 0 && (
        <details class="advanced" open={isOpen}>
          <summary>Advanced</summary>
          <div class="field-group">
            <SchemaFields schema={advanced} of={settings} secrets={secrets} secretsSet={secretsSet} />
          </div>
        </details>
      )}
    </>
  );
}

/**
 * The members of the schema that are advanced, or those that are not. Required ones never are. The provider was chosen
 * before.
 */
function part(schema: JsonSchema, isAdvanced: boolean): JsonSchema {
  const members = Object.entries(schema.properties ?? {}) as [string, JsonSchema & { readonly advanced?: boolean }][];
  const properties = Object.fromEntries(
    members.filter(([name, { advanced = false }]) => name !== "provider" && advanced === isAdvanced),
  );
  return { ...schema, properties };
}
