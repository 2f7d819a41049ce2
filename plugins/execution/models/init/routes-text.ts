/** The text of `config/routes.toml`: what stands in it stays, and an entry is added. */

export interface NewRoute {
  readonly route_id: string
  readonly driver: string
  readonly base_url: string | undefined
  readonly model: string | undefined
  readonly auth_ref: string | undefined
}

const line = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${name} = ${JSON.stringify(value)}`]

const entry = ({ route_id, driver, base_url, model, auth_ref }: NewRoute): string =>
  [
    `[routes.${route_id}]`,
    ...line('driver', driver),
    ...line('base_url', base_url),
    ...line('default_model', model),
    ...line('auth_ref', auth_ref),
    '',
  ].join('\n')

/** What stands before the first table: the only place for members of the file itself. */
const head = (text: string): string => text.slice(0, /^[ \t]*\[/mu.exec(text)?.index ?? text.length)

const namesDefault = (text: string): boolean => /^[ \t]*["']?default_route["']?[ \t]*=/mu.test(head(text))

const headerOf = (line: string): string | undefined =>
  /^\s*\[\s*["']?routes["']?\s*\.\s*["']?([\w.-]+?)["']?\s*\]/u.exec(line)?.[1]

/** True if the file has a table for the route. */
export const hasRoute = (text: string, route_id: string): boolean =>
  text.split('\n').some((one) => headerOf(one) === route_id)

/** The address that its table names. */
export const addressOf = (text: string, route_id: string): string | undefined => {
  const lines = text.split('\n')
  const behind = lines.slice(lines.findIndex((one) => headerOf(one) === route_id) + 1)
  const end = behind.findIndex((one) => /^\s*\[/u.test(one))
  const own = end < 0 ? behind : behind.slice(0, end)
  return own.flatMap((one) => /^\s*["']?base_url["']?\s*=\s*["'](.*?)["']/u.exec(one)?.[1] ?? [])[0]
}

/** A name of a route at this address: its own where there is one, else one that no route has. */
export const nameAt = (text: string, route_id: string, base_url: string): string => {
  const bare = (url: string | undefined): string | undefined => url?.replace(/\/+$/u, '')
  for (let at = 1; ; at += 1) {
    const name = at === 1 ? route_id : `${route_id}_${at}`
    if (!hasRoute(text, name) || bare(addressOf(text, name)) === bare(base_url)) return name
  }
}

/** The table of the route names this secret as its key. */
export const withKeyOf = (before: string, route_id: string, auth_ref: string): string =>
  before
    .split('\n')
    .flatMap((one) => (headerOf(one) === route_id ? [one, ...line('auth_ref', auth_ref)] : [one]))
    .join('\n')

/** `fallback` becomes the default route where the file names none. */
export const withRoutes = (before: string, routes: readonly NewRoute[], fallback: string): string => {
  const entries = routes.map(entry).join('\n')
  const body = before.trim() === '' ? entries : `${before.trimEnd()}\n\n${entries}`
  return namesDefault(before) ? body : `${line('default_route', fallback).join('')}\n\n${body}`
}
