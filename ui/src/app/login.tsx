import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client";
import { logIn } from "./session";
import { useTitle } from "./title";

/** Asks for a token. The address stays, so the viewer arrives where the link led. */
export function Login({ expired }: { expired: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  useTitle("Log in");
  useEffect(() => field.current?.focus(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token === "") return setError("enter a token");
    setBusy(true);
    setError(undefined);
    try {
      await logIn(token);
    } catch (failed) {
      if (!(failed instanceof ApiError)) throw failed;
      setError(failed.status === 401 ? "unknown token" : failed.message);
      setBusy(false);
      field.current?.select();
    }
  };
  return (
    <form class="login card" onSubmit={submit}>
      <h1>Log in</h1>
      {expired && <p class="note">Your session ended: the token was revoked or the server was restarted.</p>}
      <label>
        Token
        <input
          ref={field}
          type="password"
          name="token"
          autocomplete="current-password"
          spellcheck={false}
          aria-invalid={error !== undefined}
          aria-describedby="login-error"
        />
      </label>
      <p id="login-error" class="bad" role="alert">
        {error}
      </p>
      <button class="primary" disabled={busy}>
        Log in
      </button>
      <p class="muted">
        An administrator creates tokens with <code>manyworlds token create</code>. This page keeps none: the server
        stores it in a cookie that scripts cannot read.
      </p>
    </form>
  );
}
