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

/** True if the file has a table for the route. */
export const hasRoute = (text: string, route_id: string): boolean =>
  text
    .split('\n')
    .some((one) => /^\s*\[\s*["']?routes["']?\s*\.\s*["']?([\w.-]+?)["']?\s*\]/u.exec(one)?.[1] === route_id)

/** `fallback` becomes the default route where the file names none. */
export const withRoutes = (before: string, routes: readonly NewRoute[], fallback: string): string => {
  const entries = routes.map(entry).join('\n')
  const body = before.trim() === '' ? entries : `${before.trimEnd()}\n\n${entries}`
  return namesDefault(before) ? body : `${line('default_route', fallback).join('')}\n\n${body}`
}
