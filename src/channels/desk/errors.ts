/** What began a thread at the desk is not there any more. */
export class ThreadGone extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "ThreadGone";
  }
}
