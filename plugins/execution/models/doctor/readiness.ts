/** Routes and how they are, as the status of a daemon has it. */
import {
  array,
  boolean,
  commandErrors,
  open,
  optional,
  parse,
  string,
  type Client,
  type Infer,
} from '../../../../core/plugin.js'

const Ready = open({
  route_id: string(),
  model: string(),
  active: boolean(),
  auth_ref: optional(string()),
  state: string(),
  code: string(),
  message: string(),
  action: optional(string()),
})
export type Ready = Infer<typeof Ready>

const Status = open({ provider_readiness: open({ routes: array(Ready) }) })

export const readinessOf = async (client: Client): Promise<readonly Ready[]> => {
  const read = parse(Status, await client.get('/v1/status'))
  if (!read.ok) throw commandErrors.answer_unreadable({ details: { url: client.baseUrl } })
  return read.value.provider_readiness.routes
}
