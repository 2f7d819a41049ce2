/** Whether there is somebody to ask for searches, and what is missing. */
import { commandLine, Problem, type HealthCheck } from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import { engines, type Engine, type EngineName } from './engines.js'

export interface SearchSettings {
  readonly search_engine?: EngineName | undefined
  readonly search_url?: string | undefined
  readonly search_auth_ref?: string | undefined
}

export type SearchHost =
  | { readonly type: 'ready'; readonly engine: Engine; readonly url: string; readonly key: string | undefined }
  | {
      readonly type: 'absent'
      /** False if nobody wants searches. */
      readonly isWanted: boolean
      readonly reason: string
      readonly action: string
    }

const file = 'config/web.toml'
const absent = (reason: string, action: string, isWanted = true): SearchHost => ({
  type: 'absent',
  isWanted,
  reason,
  action,
})

/** Asked at each search, so that a new key needs no restart. */
export const findHost = (settings: SearchSettings, slots: SecretSlots | undefined): SearchHost => {
  const { search_engine: name, search_url, search_auth_ref: ref } = settings
  if (name === undefined)
    return absent(
      'No search engine is configured.',
      `Set search_engine in ${file} to searxng or brave, with search_url or search_auth_ref.`,
      search_url !== undefined || ref !== undefined,
    )
  const engine = engines[name]
  const url = search_url ?? engine.url
  if (url === undefined) return absent(`${name} has no address.`, `Set search_url in ${file} to that of its /search.`)
  if (ref !== undefined) return keyed({ engine, url }, ref, slots)
  if (!engine.needsKey) return { type: 'ready', engine, url, key: undefined }
  return absent(`${name} takes a key.`, `Store one and name it as search_auth_ref in ${file}.`)
}

const keyed = (
  host: { readonly engine: Engine; readonly url: string },
  ref: string,
  slots: SecretSlots | undefined,
): SearchHost => {
  if (slots === undefined) return absent('There are no stored secrets in this daemon.', 'Load the plugin secrets.')
  const owner = slots.find(ref)?.provider ?? 'generic'
  const store = `Store it: ${commandLine('secrets set', ref)} --provider generic --stdin`
  if (owner !== 'generic') return absent(`The secret ${ref} is one of ${owner}.`, store)
  try {
    return { type: 'ready', ...host, key: slots.value(ref) }
  } catch (error) {
    if (error instanceof Problem) return absent(error.message, store)
    throw error
  }
}

/** What somebody has begun to configure and does not work. */
export const searchHealth = (host: () => SearchHost): HealthCheck => ({
  id: 'web.search',
  check: () => {
    const found = host()
    if (found.type === 'ready' || !found.isWanted) return []
    const { reason, action } = found
    return [{ severity: 'warning', code: 'web_search_unusable', message: `web_search is not there: ${reason}`, action }]
  },
})
