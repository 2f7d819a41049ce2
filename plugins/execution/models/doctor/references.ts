/** What names a model route, wherever it was set: those that are not there any more. */
import { commandLine, isJsonObject, Problem, type Client, type Json, type JsonObject } from '../../../../core/plugin.js'
import type { DoctorCheck } from '../../../operator/status/contract.js'

/** Something that names a route. */
interface Reference {
  readonly of: string
  readonly route_id: string
  /** The command that shows it. */
  readonly shown: string
}

/** Members whose `provider` is a route. */
const holders: ReadonlySet<string> = new Set(['route_policy', 'request', 'model', 'runtime'])

const wishesIn = (value: Json | undefined, under = ''): string[] => {
  if (Array.isArray(value)) return value.flatMap((one: Json) => wishesIn(one, under))
  if (!isJsonObject(value)) return []
  const { provider } = value
  return [
    ...(holders.has(under) && typeof provider === 'string' ? [provider] : []),
    ...Object.entries(value).flatMap(([name, inner]) => wishesIn(inner, name)),
  ]
}

const textIn = (row: JsonObject, member: string): string => {
  const value = row[member]
  return typeof value === 'string' ? value : ''
}

/** What a plugin would say that is not there has no references. */
const got = async (client: Client, path: string): Promise<Json> => {
  try {
    return await client.get(path)
  } catch (error) {
    if (error instanceof Problem && error.code === 'route_not_found') return null
    throw error
  }
}

/** All rows of a list, page by page. */
async function* rowsOf(client: Client, path: string): AsyncGenerator<JsonObject> {
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer: Json = await got(client, `${path}?page=true${more}`)
    const { items = [], pagination = {} } = isJsonObject(answer) ? answer : {}
    for (const row of Array.isArray(items) ? items : []) if (isJsonObject(row)) yield row
    const next: string = isJsonObject(pagination) ? textIn(pagination, 'next_cursor') : ''
    cursor = next === '' ? undefined : next
  }
}

const lists = [
  { kind: 'session', path: '/v1/sessions', id: 'session_id', shown: 'sessions get' },
  { kind: 'schedule', path: '/v1/schedules', id: 'schedule_id', shown: 'schedules get' },
] as const

async function* references(client: Client): AsyncGenerator<Reference> {
  const runtime = await client.get('/v1/runtime')
  const { default_route, route_id, learning_policy } = isJsonObject(runtime) ? runtime : {}
  for (const [of, named] of Object.entries({ 'the default route': default_route, 'the model in use': route_id }))
    if (typeof named === 'string') yield { of, route_id: named, shown: commandLine('runtime get') }
  for (const wish of wishesIn(learning_policy))
    yield { of: 'the learning policy', route_id: wish, shown: commandLine('runtime learning-policy get') }
  for (const wish of wishesIn(await got(client, '/v1/runtime/hooks')))
    yield { of: 'a hook', route_id: wish, shown: commandLine('runtime hooks get') }
  const skills = await got(client, '/v1/skills')
  for (const skill of Array.isArray(skills) ? skills.filter(isJsonObject) : [])
    for (const wish of wishesIn(skill))
      yield { of: `the skill ${textIn(skill, 'name')}`, route_id: wish, shown: commandLine('skills list') }
  for (const { kind, path, id, shown } of lists)
    for await (const row of rowsOf(client, path))
      for (const wish of wishesIn(row))
        yield { of: `the ${kind} ${textIn(row, id)}`, route_id: wish, shown: commandLine(shown, textIn(row, id)) }
}

/** So many are named; the rest is counted. */
const mostNamed = 50

const routesFileOf = async (client: Client): Promise<string> => {
  const runtime = await client.get('/v1/runtime')
  return isJsonObject(runtime) ? textIn(runtime, 'routes_file') : ''
}

/** One check for each reference to a route that is not there, else one that there is none. */
export const referenceChecks = async (client: Client, known: ReadonlySet<string>): Promise<DoctorCheck[]> => {
  const file = await routesFileOf(client)
  const lost: DoctorCheck[] = []
  let [looked, wrong] = [0, 0]
  for await (const { of, route_id, shown } of references(client)) {
    looked += 1
    if (known.has(route_id)) continue
    wrong += 1
    if (wrong > mostNamed) continue
    const message = `${of} names the route ${route_id}, which is not there`
    const action = `Name another there, or add the route to ${file}. See ${shown}`
    lost.push({ about: 'references', ok: false, code: 'route_unknown', message, action })
  }
  if (wrong > mostNamed)
    lost.push({ about: 'references', ok: false, code: 'route_unknown', message: `${wrong - mostNamed} more name such` })
  if (wrong > 0) return lost
  return [{ about: 'references', ok: true, message: `each of ${looked} names a route that is there` }]
}
