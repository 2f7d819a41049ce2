import type { Protocol } from '../streamed/contract.js'
import { createAnswer } from './answer.js'
import { createRequestBodies } from './request-body.js'
import { openAi, type Vendor } from './vendor.js'

/** For whom requests are made, where a key does not say it. */
export interface Account {
  readonly organization?: string | undefined
  readonly project?: string | undefined
}

/** Names and values in turns. */
export const accountHeaders = ({ organization, project }: Account, api_key: string | undefined): readonly string[] => [
  ...(organization === undefined ? [] : ['openai-organization', organization]),
  ...(project === undefined ? [] : ['openai-project', project]),
  ...(api_key === undefined ? [] : ['authorization', `Bearer ${api_key}`]),
]

/** The responses protocol. `newId` names calls of which the server gives no id. */
export const responses = (newId: () => string, account: Account, vendor: Vendor = openAi): Protocol => ({
  provider: vendor.provider,
  base_url: vendor.base_url,
  path: () => '/responses',
  headers: (api_key) => accountHeaders(account, api_key),
  bodies: () => createRequestBodies(vendor),
  answer: (asked) => createAnswer(asked, { newId, provider: vendor.provider }),
})
