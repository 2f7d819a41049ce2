/** Scopes that servers said a request lacked: in memory, until the next login asks for them. */
import type { OauthServer } from './ask.js'

export interface Wanted {
  /** What a server named, with spaces between them. What is no scope is let go. */
  add(server: OauthServer, scope: string): void
  of(server: OauthServer): readonly string[]
  /** A login has asked for them. */
  clear(server: OauthServer): void
}

/** As RFC 6749 has it. */
const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/u.test(text)
const most = 20

export const createWanted = (): Wanted => {
  const wanted = new Map<string, ReadonlySet<string>>()
  // Another address is another server.
  const keyOf = ({ name, entry }: OauthServer): string => `${name} ${entry.url}`
  const of = (server: OauthServer): readonly string[] => [...(wanted.get(keyOf(server)) ?? [])]
  return {
    add(server, scope) {
      const all = new Set([...of(server), ...scope.split(' ').filter(isScope)])
      wanted.set(keyOf(server), new Set([...all].slice(0, most)))
    },
    of,
    clear: (server) => void wanted.delete(keyOf(server)),
  }
}
