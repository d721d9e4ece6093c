import { api } from "#web/dashboard/api.ts";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";

const empty = { current_password: "", password: "" };

export function Password(props: { readonly hasPassword: boolean; readonly changed: () => Promise<void> }) {
  const { hasPassword, changed } = props;
  const form = useForm(empty);
  const send = async ({ current_password: current, password }: typeof empty): Promise<void> => {
    await api.put("me/password", { password, ...(hasPassword && { current_password: current }) });
    await changed();
  };
  return (
    <Form
      form={form}
      send={send}
      label={hasPassword ? "Change the password" : "Set a password"}
      done={hasPassword ? "Password changed." : "Password set."}
      sent={() => form.setValues(empty)}
    >
      {hasPassword ? (
        <TextField
          of={form.field("current_password")}
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
        />
      ) : (
        <p class="hint">You have no password yet: you signed in by a link.</p>
      )}
      <TextField
        of={form.field("password")}
        label="New password"
        hint="At least 10 characters. Several words are easy to remember."
        type="password"
        autocomplete="new-password"
        required
        minLength={10}
        maxLength={500}
      />
    </Form>
  );
}
