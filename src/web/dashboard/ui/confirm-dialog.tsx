import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Dialog } from "#web/shared/ui/dialog.tsx";
import { useDashboard } from "#web/dashboard/store.ts";
import { TextField } from "./fields/text.tsx";
import type { FormState } from "./form.tsx";
import { Form, useForm } from "./form.tsx";

/** A dialog with a form, for as long as it is rendered. It closes when the form was sent; `closed`: remove it. */
export function FormDialog<T extends object>(props: {
  readonly title: string;
  readonly initial: T;
  readonly send: (values: T) => Promise<unknown>;
  readonly label: string;
  readonly done?: string;
  readonly isDangerous?: boolean;
  readonly isBlocked?: (values: T) => boolean;
  readonly closed: () => void;
  readonly children: (form: FormState<T>) => ComponentChildren;
}) {
  const { title, initial, send, label, done, isDangerous = false, isBlocked, closed, children } = props;
  const form = useForm(initial);
  const { router } = useDashboard();
  const mayClose = (): boolean => isDangerous || !form.isChanged || router.mayLeave();
  const inside = useRef<HTMLDivElement>(null);
  // The dialog's own close event returns the focus, and then calls `closed`.
  const close = (): void => inside.current?.closest("dialog")?.close();
  return (
    <Dialog title={title} closed={closed} mayClose={mayClose}>
      <div ref={inside}>
        <Form
          form={form}
          send={send}
          label={label}
          isDangerous={isDangerous}
          isBlocked={isBlocked?.(form.values) ?? false}
          {...(done !== undefined && { done })}
          sent={close}
          cancel={close}
        >
          {children(form)}
        </Form>
      </div>
    </Dialog>
  );
}

/** Asks before something that cannot be undone. `typed`: a name that has to be typed first. */
export function ConfirmDialog(props: {
  readonly title: string;
  /** Text of the button, such as "Delete". */
  readonly confirm: string;
  readonly run: () => Promise<unknown>;
  readonly done?: string;
  readonly typed?: string;
  readonly closed: () => void;
  /** Says what is lost. */
  readonly children: ComponentChildren;
}) {
  const { title, confirm, run, done, typed, closed, children } = props;
  return (
    <FormDialog
      title={title}
      initial={{ name: "" }}
      send={run}
      label={confirm}
      isDangerous
      isBlocked={({ name }) => typed !== undefined && name !== typed}
      {...(done !== undefined && { done })}
      closed={closed}
    >
      {(form) => (
        <>
          <div class="dialog-text">{children}</div>
          {typed !== undefined && (
            <TextField of={form.field("name")} label={`Type ${typed} to confirm`} autocomplete="off" />
          )}
        </>
      )}
    </FormDialog>
  );
}
