import {
  boolean,
  defineRoute,
  doc,
  jsonReply,
  named,
  object,
  optional,
  string,
  type Route,
} from '../../../core/plugin.js'
import { modelErrors, unknownRoute, type Models } from '../models/contract.js'
import type { Consultations } from './contract.js'

const ModelCheck = named(
  'ModelCheck',
  object({
    route_id: doc(string(), 'Id of the model route.'),
    model: doc(string(), 'The model that was asked.'),
    answered: doc(boolean(), 'True if it gave an answer.'),
    code: optional(doc(string(), 'Why not: a stable code.')),
    message: optional(doc(string(), 'Why not, in a sentence.')),
  }),
)

/** A model of somebody's own machine may have to be loaded first. */
const patienceMs = 120_000

export interface CheckParts {
  readonly models: Models
  readonly ask: Consultations['ask']
}

const question = {
  purpose: 'check',
  system: 'You are being checked.',
  texts: ['Answer with the word: ready'],
  timeout_ms: patienceMs,
  most: 10_000,
}

export const checkRoute = (parts: CheckParts): Route =>
  defineRoute({
    id: 'runtime.check_model',
    method: 'POST',
    path: '/v1/runtime/model/check',
    summary: 'Asks the model of a route for one word, and says what came of it.',
    access: 'admin',
    durability: 'A',
    body: object({ route_id: optional(doc(string({ min: 1, max: 200 }), 'The default route when absent.')) }),
    bodyOptional: true,
    reply: jsonReply(ModelCheck),
    problems: [modelErrors.bad_request],
    example: { body: { route_id: 'demo' } },
    handler: async ({ body: { route_id = parts.models.default_route } }) => {
      const { models } = parts
      const route = models.find(route_id)
      if (route === undefined) throw unknownRoute(route_id, models.list(), 'body.route_id')
      const consulted = await parts.ask({ ...question, route_id }, new AbortController().signal)
      const { model } = route
      if (consulted.type === 'text') return { route_id, model, answered: true }
      return { route_id, model, answered: false, code: consulted.code, message: consulted.message }
    },
  })
