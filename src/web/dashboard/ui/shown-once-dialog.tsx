import { Dialog, closeDialog } from "#web/shared/ui/dialog.tsx";
import { Button } from "#web/shared/ui/elements.tsx";
import { CopyField } from "./copy.tsx";

/** Shows a secret, such as a new key, this once. Only its button closes it: a click beside it would lose the secret. */
export const ShownOnceDialog = (props: {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly hint: string;
  readonly closed: () => void;
}) => (
  <Dialog title={props.title} closed={props.closed} mayClose={() => false}>
    <CopyField label={props.label} value={props.value} hint={props.hint} />
    <div class="form-actions">
      <Button label="Done" kind="primary" onClick={closeDialog} />
    </div>
  </Dialog>
);
