/** Files in questions; docs/rules/runs.md. */
import test from 'ava'
import { createFiles } from '../../../../../plugins/execution/engine/prompt/files.js'
import type { ModelMessage } from '../../../../../plugins/execution/models/contract.js'
import { requestOf, userText } from '../../../../support/models.js'

const how = { images: false, signal: new AbortController().signal }

test('a file that is named later in a conversation is shown, and a question without one stays what it is', async (t) => {
  const files = createFiles(() => undefined)
  const messages: ModelMessage[] = [userText('hi')]
  for (const text of ['and', 'so']) {
    const request = requestOf(messages)
    t.is((await files.show(request, how)).request, request)
    messages.push(userText(text))
  }
  const file = { id: 'asset-1', media_type: 'text/plain', uri: 'asset:1', file_name: 'notes.txt' }
  messages.push({ role: 'user', content: [{ type: 'text', text: '', file }] })
  messages.push(userText('what does it say?'))
  for (let asked = 0; asked < 2; asked += 1) {
    const { request } = await files.show(requestOf(messages), how)
    t.regex(JSON.stringify(request.messages[3]), /attached_file.*There are no words in it/u)
  }
})
