import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { asProblem, type Credentials, useLogin } from "../../api";
import { Button, Field, Icon, sentence } from "../../design";
import { ownPath } from "../../shell/urlState";
import styles from "./LoginScreen.module.css";

const route = getRouteApi("/login");

export function LoginScreen() {
  const { to, link, why } = route.useSearch();
  const router = useRouter();
  const login = useLogin();
  const [byToken, setByToken] = useState(false);

  useEffect(() => {
    document.title = "Log in · Headgate";
  }, []);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    login.mutate(credentials(given, byToken), {
      onSuccess: () => router.history.push(ownPath(to)),
    });
  };

  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={submit}>
        <h1 className={styles.name}>
          <Icon name="gate" size={22} /> Headgate
        </h1>
        {link && (
          <p role="alert" className={styles.note}>
            This link was used before or has expired. A link works once: log in with a token, or
            restart the server for a new link.
          </p>
        )}
        {why === "ended" && !login.error && (
          <p role="status" className={styles.note}>
            Your session has ended. Log in again to continue.
          </p>
        )}
        {byToken ? <TokenFields /> : <PasswordFields />}
        {login.error && (
          <p role="alert" className={styles.problem}>
            {sentence(asProblem(login.error).detail)}
          </p>
        )}
        <Button type="submit" variant="primary" busy={login.isPending}>
          Log in
        </Button>
        <Button variant="quiet" onClick={() => setByToken(!byToken)}>
          {byToken ? "Use a password instead" : "Use a token instead"}
        </Button>
        <p className={styles.hint}>
          On the server’s machine, <code>headgate serve</code> prints a login link. To add an
          account, run <code>headgate users add NAME</code>.
        </p>
      </form>
    </main>
  );
}

function PasswordFields() {
  return (
    <>
      <Field label="Name" name="name" autoComplete="username" required autoFocus />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
      />
    </>
  );
}

function TokenFields() {
  return (
    <Field
      label="Token"
      name="token"
      type="password"
      autoComplete="off"
      placeholder="hg_…"
      hint="headgate serve prints one. Create more under Settings."
      required
      autoFocus
    />
  );
}

function credentials(given: FormData, byToken: boolean): Credentials {
  const text = (name: string) => String(given.get(name) ?? "").trim();
  if (byToken) return { token: text("token") };
  return { name: text("name"), password: String(given.get("password") ?? "") };
}
