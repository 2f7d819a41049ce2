import {
  boolean,
  defaulted,
  defineRoute,
  doc,
  integer,
  jsonReply,
  named,
  object,
  optional,
  string,
  visibleLine,
  type Clock,
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
    answer: optional(doc(string(), 'The beginning of that answer.')),
    duration_ms: doc(integer({ min: 0 }), 'How long it took.'),
    code: optional(doc(string(), 'Why not: a stable code.')),
    message: optional(doc(string(), 'Why not, in a sentence.')),
  }),
)

/** A model of somebody's own machine may have to be loaded first. */
const patienceMs = 120_000

/** Signs of an answer that are shown. */
const shownSigns = 200

export interface CheckParts {
  readonly clock: Pick<Clock, 'elapsed'>
  readonly redact: (text: string) => string
  readonly models: Models
  readonly ask: Consultations['ask']
  /** Aborts when the daemon begins to stop. */
  readonly leaving: AbortSignal
}

const question = {
  purpose: 'check',
  system: 'You are being checked.',
  texts: ['Answer with the word: ready'],
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
    body: object({
      route_id: optional(doc(string({ min: 1, max: 200 }), 'The default route when absent.')),
      timeout_ms: defaulted(
        doc(integer({ min: 100, max: 600_000 }), 'How long the answer is waited for, milliseconds.'),
        patienceMs,
      ),
    }),
    bodyOptional: true,
    reply: jsonReply(ModelCheck),
    problems: [modelErrors.bad_request],
    example: { body: { route_id: 'demo' } },
    handler: async ({ body: { route_id = parts.models.default_route, timeout_ms = patienceMs } }) => {
      const { models, clock, redact, leaving } = parts
      const route = models.find(route_id)
      if (route === undefined) throw unknownRoute(route_id, models.list(), 'body.route_id')
      const began = clock.elapsed()
      const consulted = await parts.ask({ ...question, timeout_ms, route_id }, leaving)
      leaving.throwIfAborted()
      const asked = { route_id, model: route.model, duration_ms: Math.round(clock.elapsed() - began) }
      if (consulted.type !== 'text')
        return { ...asked, answered: false, code: consulted.code, message: consulted.message }
      return { ...asked, answered: true, answer: visibleLine(redact(consulted.text)).slice(0, shownSigns) }
    },
  })
