import {
  boolean,
  defineCommand,
  open,
  optional,
  sentence,
  string,
  visibleLine,
  type Command,
} from '../../../core/plugin.js'

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'check-model'],
    route: 'POST /v1/runtime/model/check',
    summary: 'Asks the model of a route, or of the default one, for one word; 1 if it does not answer.',
    args: ['route_id?'],
    run: ({ client, args }) =>
      client.send(
        'POST',
        '/v1/runtime/model/check',
        args['route_id'] === undefined ? {} : { route_id: args['route_id'] },
      ),
    answer: open({ route_id: string(), model: string(), answered: boolean(), message: optional(string()) }),
    show: ({ route_id, model, answered, message = '' }) =>
      visibleLine(model === '' ? route_id : `${route_id} (${model})`) +
      (answered ? ' answers.' : ` does not answer: ${sentence(visibleLine(message))}`),
    status: ({ answered }) => (answered ? 0 : 1),
  }),
]
