/** The routes that are configured: those of a file, or where it has none the one that the flags name. */
import { sentence, unsafeCast, visibleLine, type HealthCheck, type List, type Warning } from '../../../core/plugin.js'
import type { ActiveModel, Configured } from './active-model.js'
import { textOnly, type ModelProvider, type ModelRoute } from './contract.js'
import { buildRoute } from './model-route.js'
import type { KeySources, RouteConfig } from './route-config.js'
import { refusing } from './refusing.js'
import type { RouteEntry, RouteFile } from './file/route-list.js'
import { fileWords, meantOf } from './file/route-words.js'

export interface ConfiguredParts {
  /** As the flags say. */
  readonly flagged: RouteConfig
  /** Routes beside it, as flags say. */
  readonly beside: readonly RouteConfig[]
  /** The default route that the flags name; it goes before that of the file. */
  readonly default_route: string | undefined
  readonly list: Omit<List<RouteEntry, RouteFile>, 'onChange'>
  readonly providers: () => readonly ModelProvider[]
  readonly sources: KeySources
}

/** Where a list tells what is wrong with its file as a whole. */
const wholeFile = ''
/** Where it tells what stands beside its entries. */
const besideRoutes = '='
const isRouteId = /^[\w.-]+$/u
/** Stands in for the default route where nobody says which one it is. */
const noRoute = 'none'

const correct = ({ source }: Pick<ConfiguredParts['list'], 'source'>): string =>
  `Correct ${source}: it is read again when it is saved.`

/** `action` where nothing in the file is wrong. */
const unusable = (route_id: string, message: string | (() => string), action: string): ModelRoute => ({
  route_id,
  provider: 'unknown',
  model: '',
  capabilities: textOnly,
  connection: refusing(() => ({
    code: 'route_invalid',
    message: typeof message === 'string' ? message : message(),
    action,
  })),
})

const configOf = (
  { flagged: { idle_timeout_ms, usual_window }, list }: Pick<ConfiguredParts, 'flagged' | 'list'>,
  route_id: string,
  entry: RouteEntry,
): RouteConfig => {
  const { driver, default_model, base_url, auth_ref, api_key, api_key_env, api_key_file, ...rest } = entry
  const { idle_timeout_ms: own, max_concurrent_calls, context_window, model_support, ...others } = rest
  const { organization, organization_env, project, project_env, ...more } = others
  const { anthropic_version, anthropic_beta_headers, ...media } = more
  const { image_model, audio_model, transcription_model, ...abilities } = media
  return {
    route_id,
    provider: driver,
    model: default_model,
    base_url,
    auth_ref,
    api_key,
    api_key_env,
    api_key_file,
    idle_timeout_ms: own ?? idle_timeout_ms,
    max_concurrent_calls,
    context_window,
    usual_window,
    takesAny: model_support === 'any',
    abilities: defined(abilities),
    own_models: defined({ image: image_model, audio: audio_model, transcription: transcription_model }),
    vendor: defined({ organization, project, anthropic_version, anthropic_beta_headers }),
    vendor_env: defined({ organization: organization_env, project: project_env }),
    words: fileWords(route_id, list.source, () => list.lineOf(route_id, 'driver')),
  }
}

const defined = <T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  unsafeCast(Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)))

interface Source {
  /** The same object as long as the route is the same. */
  readonly of: unknown
  make(): ModelRoute
}

const gone = ({ source }: Pick<ConfiguredParts['list'], 'source'>): string =>
  `${source} had routes and has none any more, so no model answers.`
const putBack = ({ source }: Pick<ConfiguredParts['list'], 'source'>): string =>
  `Put them back into ${source}: it is read when it is saved. A daemon that starts without any goes by its flags.`
const putThere = ({ source }: Pick<ConfiguredParts['list'], 'source'>): string =>
  `Put ${visibleLine(source)} there: it is read then. Or start the daemon with the right name.`

/** What stands in the file by name: routes, and those that cannot be read. */
const sourcesOf = (parts: ConfiguredParts, hadRoutes: boolean): ReadonlyMap<string, Source> => {
  const { list, flagged, beside, providers, sources } = parts
  const found = new Map<string, Source>()
  const broken = list.wrong().get(wholeFile)
  const missing = list.missing()
  const wrong = (name: string, message: string) => () => unusable(name, message, correct(list))
  for (const [name, of] of list.all())
    found.set(name, { of, make: () => buildRoute(configOf(parts, name, of), providers(), sources) })
  for (const [name, fault] of list.wrong())
    if (!found.has(name) && isRouteId.test(name))
      found.set(name, { of: fault, make: wrong(name, sentence(`The route cannot be read: ${fault}`)) })
  if (found.size > 0) return found
  if (broken !== undefined) return new Map([[noRoute, { of: broken, make: wrong(noRoute, broken) }]])
  if (missing !== undefined)
    return new Map([[noRoute, { of: missing, make: () => unusable(noRoute, sentence(missing), putThere(list)) }]])
  if (hadRoutes) return new Map([[noRoute, { of: gone, make: () => unusable(noRoute, gone(list), putBack(list)) }]])
  return new Map(
    [flagged, ...beside].map((of) => [of.route_id, { of, make: () => buildRoute(of, providers(), sources) }]),
  )
}

interface Built {
  readonly of: unknown
  readonly route: ModelRoute
}

interface Made {
  /** Of the file, as it was then. */
  readonly from: unknown
  /** Built when they are first asked for, and again only when they have changed: what is under way goes on. */
  readonly routes: ReadonlyMap<string, Built>
  /** The default route: the one that is wished, unless it is not there. */
  readonly active: ActiveModel
  readonly wish: string | undefined
  /** The file has or had some: a save that lost them looks like a file without any. */
  readonly hadRoutes: boolean
}

interface ConfiguredRoutes extends Configured {
  readonly health: HealthCheck
  /** True of an entry of the file that is wrong and that nothing holds in place of. */
  isUnread(route_id: string): boolean
}

export const configuredRoutes = (parts: ConfiguredParts): ConfiguredRoutes => {
  let made: Made | undefined
  let listed: readonly ModelRoute[] = []
  const make = (before: Made | undefined): Made => {
    const routes = new Map<string, Built>()
    const hadRoutes = before?.hadRoutes === true || parts.list.all().size > 0
    for (const [name, { of, make: build }] of sourcesOf(parts, hadRoutes)) {
      const known = before?.routes.get(name)
      routes.set(name, known !== undefined && known.of === of ? known : { of, route: build() })
    }
    const wish = parts.default_route ?? parts.list.beside()?.default_route ?? usualOf(routes, parts.flagged)
    const kept = before?.active.route_id
    const chosen = [wish, kept].find((name) => name !== undefined && routes.has(name)) ?? wish ?? noRoute
    const known = [...routes.keys()]
    if (!routes.has(chosen))
      routes.set(chosen, { of: noRoute, route: unusable(chosen, noDefault(parts, wish, known), correct(parts.list)) })
    const model = routes.get(chosen)?.route.model ?? ''
    listed = [...routes.values()].map(({ route }) => route)
    return { from: parts.list.all(), routes, active: { route_id: chosen, model }, wish, hadRoutes }
  }
  const now = (): Made => {
    if (made === undefined || made.from !== parts.list.all()) made = make(made)
    return made
  }
  return {
    routes() {
      now()
      return listed
    },
    active: () => now().active,
    file: parts.list.source,
    isUnread: (route_id) => parts.list.wrong().has(route_id) && !parts.list.all().has(route_id),
    health: { id: 'default-route', check: () => keptWarning(parts, now()) },
  }
}

/** The only one, or that of the flags, of which others are beside it. */
const usualOf = (routes: ReadonlyMap<string, Built>, flagged: RouteConfig): string | undefined => {
  const [only] = routes.keys()
  if (routes.size === 1) return only
  return routes.get(flagged.route_id)?.of === flagged ? flagged.route_id : undefined
}

/** The line of the file that says which one is the default; undefined if a flag does, or the file does not any more. */
const wishLine = ({ default_route, list }: ConfiguredParts): number | undefined =>
  default_route === undefined ? list.lineOf(besideRoutes, 'default_route') : undefined

const noDefault = (parts: ConfiguredParts, wish: string | undefined, known: readonly string[]) => (): string => {
  if (wish === undefined) return 'There are several routes, and none is the default_route.'
  const line = wishLine(parts)
  const place = line === undefined ? '' : `${parts.list.source}:${line}: `
  return `${place}The default_route ${wish} is none of the routes${meantOf(wish, known)}`
}

const keptWarning = (parts: ConfiguredParts, { wish, active, routes }: Made): Warning[] => {
  if (active.route_id === wish || active.route_id === noRoute) return []
  // Of a file that cannot be read, and that says nothing of it as it is now, more is wrong.
  if (parts.default_route === undefined && parts.list.wrong().has(wholeFile) && wishLine(parts) === undefined) return []
  return [
    {
      severity: 'warning',
      code: 'default_route_unknown',
      message: `${noDefault(parts, wish, [...routes.keys()])()} The one of before stays: ${active.route_id}.`,
      action: correct(parts.list),
      related_id: active.route_id,
    },
  ]
}
