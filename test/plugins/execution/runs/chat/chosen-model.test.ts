/** What is said of a word that may have been meant as a route. */
import test from 'ava'
import { routeHint } from '../../../../../plugins/execution/runs/chat/chosen-model.js'

test('command-line-42: a word that is a route but for letters, or near to one, is told so; a model of a route is not', (t) => {
  const routes = [
    { route_id: 'ollama', model: 'llama3' },
    { route_id: 'claude', model: 'opus' },
  ]
  const hint = (text: string): string | undefined =>
    routeHint(
      { route_id: 'claude', model: 'opus', routes, permission_mode: undefined, trouble: undefined, policy: {} },
      text,
    )
  t.is(hint('OLLAMA'), 'No route is called OLLAMA, but one ollama. It is taken for a model.')
  t.is(hint('olama/qwen'), 'No route is called olama, but one ollama. All of it is taken for a model.')
  t.is(hint('nosuchthing/xx'), 'No route is called nosuchthing. All of it is taken for a model.')
  for (const text of ['ollama', 'ollama/qwen', 'llama3', 'gpt-5.4-mini']) t.is(hint(text), undefined)
})
