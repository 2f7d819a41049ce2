/** Who gives out the tokens of a server, and what for: nothing of it is guessed. */
import { open, parse, string, type JsonObject } from '../../../../core/plugin.js'
import type { Kit } from '../connection/kit.js'
import { challengeOf, createAsk, failed, isSecure, type Ask, type AskParts } from './ask.js'
import { reasonOf } from './faults.js'

type AnyMetadata = NonNullable<Awaited<ReturnType<Kit['discoverAuthorizationServerMetadata']>>>
type ResourceMetadata = Awaited<ReturnType<Kit['discoverOAuthProtectedResourceMetadata']>>

/** What was found out. */
export interface Discovered {
  readonly metadata: AnyMetadata
  /** The address that takes tokens back. */
  readonly revocation_endpoint: string | undefined
  /** What tokens are asked for. */
  readonly resource: string
  /** With spaces between them; undefined to ask for none. */
  readonly scope: string | undefined
}

export interface DiscoveryParts extends AskParts {
  readonly kit: Kit
  /** Scopes to ask for beside those that the server names. */
  readonly wanted?: readonly string[]
}

const message = (method: string, params: JsonObject): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** What the server says of itself when it is asked without a token: some greet everybody and ask for one later. */
const challenged = async (parts: DiscoveryParts): Promise<Response> => {
  const { kit } = parts
  const greeting = {
    protocolVersion: kit.LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'holdfast', version: '1' },
  }
  const answer = await challengeOf(parts, message('initialize', greeting))
  return answer.ok ? challengeOf(parts, message('tools/list', {})) : answer
}

/** Notes the last answer: the package has one error for a page that is not there and for one that is wrong. */
const noting = (ask: Ask) => {
  const seen = { status: 0, text: '' }
  const noted: Ask = async (url, init) => {
    const response = await ask(url, init)
    seen.status = response.status
    seen.text = await response.clone().text()
    return response
  }
  return { seen, noted }
}

const resourceMetadata = async (
  { kit, server }: DiscoveryParts,
  ask: Ask,
  resourceMetadataUrl: URL | undefined,
): Promise<ResourceMetadata | undefined> => {
  const { seen, noted } = noting(ask)
  try {
    const named = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
    return await kit.discoverOAuthProtectedResourceMetadata(server.entry.url, named, noted)
  } catch (error) {
    const reason = reasonOf(kit, error)
    if (resourceMetadataUrl === undefined && seen.status >= 400 && seen.status < 500) return undefined
    throw failed(server, `the metadata of the server: ${reason}`, error)
  }
}

/** The package leaves it out of what it reads of an OpenID server. */
const revocationOf = (text: string): string | undefined => {
  const read = parse(open({ revocation_endpoint: string() }), JSON.parse(text))
  return read.ok && isSecure(read.value.revocation_endpoint) ? read.value.revocation_endpoint : undefined
}

const serverMetadata = async (
  { kit, server }: DiscoveryParts,
  ask: Ask,
  issuer: string,
): Promise<Pick<Discovered, 'metadata' | 'revocation_endpoint'>> => {
  const { seen, noted } = noting(ask)
  const found = await kit.discoverAuthorizationServerMetadata(issuer, { fetchFn: noted }).catch((error: unknown) => {
    throw failed(server, `the metadata of the authorization server: ${reasonOf(kit, error)}`, error)
  })
  if (found === undefined) throw failed(server, 'no authorization server says that it is responsible')
  if (found.code_challenge_methods_supported?.includes('S256') !== true)
    throw failed(server, 'its authorization server does not support PKCE with S256')
  if (!isSecure(found.authorization_endpoint)) throw failed(server, 'its authorization endpoint is not https')
  return { metadata: found, revocation_endpoint: revocationOf(seen.text) }
}

/** `offline_access` stands for a refresh token where it is known at all. */
const scopeOf = (
  { server: { entry }, wanted = [] }: Pick<DiscoveryParts, 'server' | 'wanted'>,
  asked: string | undefined,
  { resource, metadata }: { readonly resource: ResourceMetadata | undefined; readonly metadata: AnyMetadata },
): string | undefined => {
  if (entry.oauth_scopes.length > 0) return entry.oauth_scopes.join(' ')
  const scopes = [...(asked?.split(' ') ?? resource?.scopes_supported ?? []), ...wanted]
  const offline = metadata.scopes_supported?.includes('offline_access') === true ? ['offline_access'] : []
  return scopes.length === 0 ? undefined : [...new Set([...scopes, ...offline])].join(' ')
}

export const discover = async (parts: DiscoveryParts): Promise<Discovered> => {
  const { kit, server } = parts
  const { entry } = server
  const ask = createAsk(parts)
  const challenge = kit.extractWWWAuthenticateParams(await challenged(parts))
  const resource = await resourceMetadata(parts, ask, challenge.resourceMetadataUrl)
  const own = kit.resourceUrlFromServerUrl(entry.url)
  if (
    resource !== undefined &&
    !kit.checkResourceAllowed({ requestedResource: own, configuredResource: resource.resource })
  )
    throw failed(server, 'its metadata are those of another resource')
  const issuer = resource?.authorization_servers?.[0] ?? new URL('/', entry.url).href
  const { metadata, revocation_endpoint } = await serverMetadata(parts, ask, issuer)
  return {
    metadata,
    revocation_endpoint,
    resource: entry.oauth_resource ?? resource?.resource ?? own.href,
    scope: scopeOf(parts, challenge.scope, { resource, metadata }),
  }
}
