const phoneQuery = "(max-width: 480px), (max-height: 420px)";

export interface PhoneLayout {
  /** Whether the chat covers the page. */
  isPhone(): boolean;
  /** Called when the chat has opened. */
  fit(): void;
}

/** Ends the sheet that covers a phone's screen where the keyboard begins. `isModal`: whether it is a dialog and open. */
export function createPhoneLayout(
  root: HTMLElement,
  panel: HTMLElement,
  ended: AbortSignal,
  isModal: () => boolean,
): PhoneLayout {
  const phone = matchMedia(phoneQuery);
  const fit = (): void => {
    const viewport = window.visualViewport;
    root.style.setProperty("--visible-height", viewport === null ? "100dvh" : `${viewport.height}px`);
    root.style.setProperty("--visible-top", viewport === null ? "0px" : `${viewport.offsetTop}px`);
    if (isModal()) panel.setAttribute("aria-modal", String(phone.matches));
  };
  const untilEnd = { signal: ended };
  window.visualViewport?.addEventListener("resize", fit, untilEnd);
  window.visualViewport?.addEventListener("scroll", fit, untilEnd);
  phone.addEventListener("change", fit, untilEnd);
  fit();
  return { isPhone: () => phone.matches, fit };
}
