import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { Badge } from "#web/dashboard/ui/marks.tsx";
import type { Field, FieldTexts } from "./field.tsx";
import { FieldFrame } from "./field.tsx";

/** A secret, which is written and never read. Undefined: it stays as it is. `isSet`: the server has one. */
export function SecretField(
  props: FieldTexts & {
    readonly of: Field<string | undefined>;
    readonly isSet: boolean;
    readonly placeholder?: string;
    readonly required?: boolean;
  },
) {
  const { of: field, label, hint, optional, isSet, placeholder, required = false } = props;
  const [isReplacing, setReplacing] = useState(false);
  const isWriting = !isSet || isReplacing;
  const change = (replacing: boolean): void => {
    setReplacing(replacing);
    field.set(undefined);
  };
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })} isGroup={!isWriting}>
      {(attributes) => (
        <div class="with-button">
          {isWriting ? (
            <input
              {...attributes}
              type="password"
              dir="ltr"
              class="mono"
              // It is not the agent's own password.
              autocomplete="new-password"
              placeholder={placeholder}
              required={required || isReplacing}
              value={field.value ?? ""}
              onInput={({ currentTarget }) => field.set(currentTarget.value === "" ? undefined : currentTarget.value)}
            />
          ) : (
            <Badge tone="good">Set</Badge>
          )}
          {isSet && (
            <Button
              label={isReplacing ? "Keep the old one" : "Replace"}
              kind={isReplacing ? "plain" : "secondary"}
              aria-label={isReplacing ? `${label}: keep the old one` : `Replace ${label}`}
              onClick={() => change(!isReplacing)}
            />
          )}
        </div>
      )}
    </FieldFrame>
  );
}
