/** How requests to a server over HTTP say who asks. */
import type { HttpEntry } from './entry.js'

/** The bearer token of one server. */
export interface Authorization {
  /**
   * The token of the next request; undefined if it goes without one. Rejects with a problem if there is none that could
   * be used: then the server is not connected, and the problem is its reason.
   */
  token(): Promise<string | undefined>
  /**
   * The server answered 401 to a request with this token. Afterwards the request is made once more with the token that
   * there is then. Rejects as `token` does.
   */
  refused(token: string): Promise<void>
  /** The server answered 403 and said why. Throws a problem if it asks for more scopes. */
  forbidden(challenge: { readonly error?: string; readonly scope?: string }): void
}

/** The authorization of a server with this name; undefined if it has none. Called at each connection. */
export type Authorize = (name: string, entry: HttpEntry) => Authorization | undefined
