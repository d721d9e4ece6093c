import { signal } from "@preact/signals";
import { RequestFailed } from "#web/shared/request.ts";

/** A line that is shown for a while. */
export interface Notice {
  readonly number: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action?: NoticeAction;
}

/** A button or a link beside the text. */
export type NoticeAction =
  | { readonly label: string; readonly shortcut?: string; readonly run: () => void }
  | { readonly label: string; readonly href: string };

const shownMs = { done: 4_500, problem: 9_000 } as const;

export type Notices = ReturnType<typeof createNotices>;

export function createNotices() {
  const shown = signal<Notice | undefined>(undefined);
  /** The last announcement for screen readers. */
  const announced = signal<{ readonly number: number; readonly text: string } | undefined>(undefined);
  let count = 0;

  const clear = (notice: Notice | undefined): void => {
    if (shown.value === notice) shown.value = undefined;
  };
  const show = (content: Omit<Notice, "number">, forMs: number = shownMs[content.kind]): void => {
    const notice = { ...content, number: (count += 1) };
    shown.value = notice;
    setTimeout(() => clear(notice), forMs);
  };
  const problem = (text: string): void => show({ kind: "problem", text });

  return {
    shown,
    announced,
    show,
    clear,
    problem,
    done: (text: string) => show({ kind: "done", text }),
    /** Shows why a request failed. Anything else is an error in this page. */
    report(error: unknown): void {
      if (!(error instanceof RequestFailed)) console.error(error);
      problem(messageOf(error));
    },
    clearProblem: () => shown.value?.kind === "problem" && clear(shown.value),
    announce: (text: string) => void (announced.value = { number: (count += 1), text }),
  };
}

export const messageOf = (error: unknown): string =>
  error instanceof RequestFailed ? error.message : "Something went wrong in this page. Please load it again.";
