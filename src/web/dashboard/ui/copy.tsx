import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { useDashboard } from "#web/dashboard/store.ts";
import { icons } from "./icons.ts";

/** A button that copies a text. `fallback`: called where the page may not copy, which is so without https. */
export function CopyButton(props: {
  readonly text: string;
  readonly label?: string;
  readonly kind?: string;
  readonly fallback?: () => void;
}) {
  const { text, label = "Copy", kind = "secondary", fallback } = props;
  const { notices } = useDashboard();
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      notices.done("Copied.");
    } catch {
      // The clipboard is missing or refused; the reason changes nothing for the reader.
      fallback?.();
      notices.problem("This browser does not let the page copy. Select the text and copy it.");
    }
  }
  return <Button label={label} kind={kind} shape={icons.copy} onClick={() => void copy()} />;
}

/** A text to copy, such as an address, or a secret that is shown this once. */
export function CopyField(props: {
  readonly label: string;
  readonly value: string;
  readonly hint?: ComponentChildren;
}) {
  const { label, value, hint } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="with-button">
        <input
          ref={input}
          id={id}
          class="mono"
          readOnly
          dir="ltr"
          value={value}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onFocus={({ currentTarget }) => {
            currentTarget.select();
            currentTarget.scrollLeft = 0;
          }}
        />
        <CopyButton text={value} fallback={() => input.current?.focus()} />
      </div>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
