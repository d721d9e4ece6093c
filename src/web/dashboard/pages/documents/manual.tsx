import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";

/** Says that customers get answers from the built-in manual, and removes it. */
export function ManualNotice(props: { readonly canWrite: boolean; readonly removed: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Callout>
      <p>
        The documents marked “Manual” are Parley’s own manual, for a first try. Customers get answers about Parley until
        you remove it.
      </p>
      {props.canWrite && (
        <p class="row-actions">
          <Button label="Remove the built-in manual" kind="secondary" onClick={() => setOpen(true)} />
        </p>
      )}
      {isOpen && (
        <ConfirmDialog
          title="Remove the built-in manual?"
          confirm="Remove"
          run={async () => {
            await api.del("documents/manual");
            await props.removed();
          }}
          closed={() => setOpen(false)}
        >
          <p>Answers come from your own documents only.</p>
        </ConfirmDialog>
      )}
    </Callout>
  );
}
