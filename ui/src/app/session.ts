import { computed, signal } from "@preact/signals";
import { ApiError, get, onLoggedOut, post } from "../api/client";
import type { Session } from "../api/types";

/** Where the session stands: asking, logged out, the server is away, or logged in. */
export type Standing =
  | { is: "asking" }
  | { is: "out"; expired: boolean }
  | { is: "away"; error: ApiError }
  | { is: "in"; session: Session };

export const standing = signal<Standing>({ is: "asking" });
export const session = computed(() => (standing.value.is === "in" ? standing.value.session : undefined));

/** The database that ensembles are in. */
const SIM = "sim";

export function mayWrite(database: string): boolean {
  const now = session.value;
  return now !== undefined && now.write && (!now.databases?.length || now.databases.includes(database));
}

/** Whether the viewer may play, pause and define: views hide what a read-only token cannot do. */
export const mayPlay = computed(() => mayWrite(SIM));
export const isAdmin = computed(() => session.value?.admin ?? false);

onLoggedOut(() => {
  if (standing.value.is !== "out") standing.value = { is: "out", expired: standing.value.is === "in" };
});

/** Asks who the viewer is. */
export async function begin(): Promise<void> {
  try {
    standing.value = { is: "in", session: await get<Session>("/api/v1/session") };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) standing.value = { is: "away", error };
  }
}

/** Logs in; the server keeps the token in a cookie that scripts cannot read. */
export async function logIn(token: string): Promise<void> {
  standing.value = { is: "in", session: await post<Session>("/api/v1/login", { token }) };
}

export async function logOut(): Promise<void> {
  await post("/api/v1/logout", {});
  standing.value = { is: "out", expired: false };
}
