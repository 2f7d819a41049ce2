import type { Protocol } from '../streamed/contract.js'
import { createAnswer } from './answer.js'
import { createRequestBodies } from './request-body.js'

/** How requests to the servers say what they expect. */
export interface Version {
  readonly version: string
  readonly beta_headers: readonly string[]
}

/** The messages protocol. `newId` names calls of which the server gives no id. */
export const messages = (newId: () => string, { version, beta_headers }: Version): Protocol => ({
  provider: 'anthropic',
  base_url: 'https://api.anthropic.com/v1',
  path: () => '/messages',
  headers: (api_key) => [
    'anthropic-version',
    version,
    ...(beta_headers.length === 0 ? [] : ['anthropic-beta', beta_headers.join(',')]),
    ...(api_key === undefined ? [] : ['x-api-key', api_key]),
  ],
  bodies: () => createRequestBodies(),
  answer: (asked) => createAnswer(asked, newId),
})
