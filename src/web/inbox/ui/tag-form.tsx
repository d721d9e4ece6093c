import { useState } from "preact/hooks";

interface TagFormProps {
  readonly label: string;
  readonly placeholder: string;
  readonly kind?: string;
  readonly disabled?: boolean;
  /** Returns whether the tag was taken: the field becomes empty. */
  readonly add: (tag: string) => boolean | Promise<boolean>;
}

/** A field for a tag, which is in small letters. */
export function TagForm({ label, placeholder, kind = "tag-form", disabled = false, add }: TagFormProps) {
  const [text, setText] = useState("");
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const tag = text.trim().toLowerCase();
    if (tag !== "" && (await add(tag))) setText("");
  }
  return (
    <form class={kind} onSubmit={(event) => void submit(event)}>
      <input
        type="text"
        placeholder={placeholder}
        aria-label={label}
        maxLength={64}
        autocomplete="off"
        enterkeyhint="done"
        disabled={disabled}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}
