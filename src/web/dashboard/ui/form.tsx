import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import { useCanWrite, useDashboard } from "#web/dashboard/store.ts";
import type { Field } from "./fields/field.tsx";
import { ManagedByFile } from "./marks.tsx";

type Errors = Readonly<Record<string, string>>;

export interface FormState<T extends object> {
  readonly values: T;
  /** Replaces the values. They count as saved. */
  readonly setValues: (values: T) => void;
  /** The values differ from those that were saved last. */
  readonly isChanged: boolean;
  /** The field of a value, for the components of `fields/`. */
  readonly field: <K extends keyof T & string>(name: K) => Field<T[K]>;
  /** Sends the values. An error of the server is shown at its field in `element`, or above the form. */
  readonly submit: (element: HTMLElement, send: (values: T) => Promise<unknown>) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  readonly errors: Errors;
}

/** The values of a form, and the state of sending them. A page with other initial values needs another `key`. */
export function useForm<T extends object>(initial: T): FormState<T> {
  const [values, setValues] = useState(initial);
  const [saved, setSaved] = useState(initial);
  const [errors, setErrors] = useState<Errors>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const resets = useRef(0);
  return {
    values,
    setValues(next) {
      resets.current += 1;
      setValues(next);
      setSaved(next);
    },
    isChanged: values !== saved && JSON.stringify(values) !== JSON.stringify(saved),
    errors,
    problem,
    isBusy,
    field: (name) => ({
      name,
      value: values[name],
      // Two fields may change before the form is rendered again.
      set: (value) => setValues((before) => ({ ...before, [name]: value })),
      errors,
    }),
    async submit(element, send) {
      if (isBusy) return false;
      setBusy(true);
      setErrors({});
      setProblem(undefined);
      const before = resets.current;
      try {
        await send(values);
        if (resets.current === before) setSaved(values);
        return true;
      } catch (error) {
        const reasons = messageOf(error).split("\n");
        const placed = reasons.map((reason) => placeOf(reason, element));
        setErrors(
          Object.fromEntries(placed.flatMap(({ field, text }) => (field === undefined ? [] : [[field, text]]))),
        );
        const others = placed.flatMap(({ field, text }) => (field === undefined ? [text] : []));
        if (others.length > 0) setProblem(others.join("\n"));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** The field that a reason begins with, as in "email: must be an address", where the form shows that field. */
function placeOf(reason: string, form: HTMLElement): { readonly field?: string; readonly text: string } {
  const [, name, text] = /^([\w.-]+): (.+)$/su.exec(reason) ?? [];
  if (name === undefined || text === undefined) return { text: reason };
  const exact = CSS.escape(name);
  const found = form.querySelector<HTMLElement>(`[data-field="${exact}"], [data-field$=".${exact}"]`);
  const field = found?.dataset["field"];
  return field === undefined ? { text: reason } : { field, text: `${text.charAt(0).toUpperCase()}${text.slice(1)}` };
}

/**
 * A form with its buttons. It is read-only for agents who may not change the page, and with `isManaged`, where the
 * configuration file declares what it shows.
 */
export function Form<T extends object>(props: {
  readonly form: FormState<T>;
  readonly send: (values: T) => Promise<unknown>;
  /** Text of the button that sends the form. */
  readonly label: string;
  readonly isDangerous?: boolean;
  /** The button stays disabled for now. */
  readonly isBlocked?: boolean;
  /** Shown when the form was sent. */
  readonly done?: string;
  /** Called when the form was sent. */
  readonly sent?: () => void;
  readonly cancel?: () => void;
  readonly isManaged?: boolean;
  readonly children: ComponentChildren;
}) {
  const { form, send, label, isDangerous = false, isBlocked = false, cancel, isManaged = false } = props;
  const { notices } = useDashboard();
  const canWrite = useCanWrite() && !isManaged;
  const element = useRef<HTMLFormElement>(null);
  useFocusOnError(element, form);
  // A form that was sent may open another page.
  useUnsavedGuard(canWrite && form.isChanged && !form.isBusy && !isDangerous);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (element.current === null || !(await form.submit(element.current, send))) return;
    if (props.done !== undefined) notices.done(props.done);
    props.sent?.();
  }
  return (
    <form ref={element} class="form" onSubmit={(event) => void submit(event)}>
      {isManaged && <ManagedByFile />}
      {form.problem !== undefined && (
        <p class="problem" role="alert" tabIndex={-1}>
          {form.problem}
        </p>
      )}
      <fieldset disabled={!canWrite}>{props.children}</fieldset>
      {canWrite && (
        <div class="form-actions">
          {cancel !== undefined && <Button label="Cancel" kind="secondary" onClick={cancel} />}
          <Button
            label={label}
            kind={isDangerous ? "primary danger" : "primary"}
            type="submit"
            disabled={isBlocked || form.isBusy}
            aria-busy={form.isBusy}
          />
        </div>
      )}
    </form>
  );
}

/** Asks before the page is left with changes that are not saved. */
function useUnsavedGuard(isUnsaved: boolean): void {
  const { router } = useDashboard();
  useLayoutEffect(() => (isUnsaved ? router.holdUnsaved() : undefined), [isUnsaved]);
}

/** After a refusal the focus moves to the reason. */
function useFocusOnError(
  element: { readonly current: HTMLElement | null },
  { errors, problem }: { readonly errors: Errors; readonly problem: string | undefined },
): void {
  useLayoutEffect(() => {
    element.current?.querySelector<HTMLElement>(".field [aria-invalid], p.problem")?.focus();
  }, [errors, problem]);
}
