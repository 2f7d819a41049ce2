import test from 'ava'
import { frameTags } from '../../../../core/base/words/frame-tags.js'

test('prompt-2, tools-45: what a reader takes for a tag of one of these names is found, and nothing else', (t) => {
  const tags = frameTags(['page', 'soul'])
  for (const tag of ['<page>', '</page>', '< / page >', '＜page', '﹤/\u200bsoul', '‹//soul x', '<\n/PAGE>'])
    t.not(tag.replace(tags, '('), tag, JSON.stringify(tag))
  for (const text of ['page', '<pages>', '<b>', '< pag e>', '(page)']) t.is(text.replace(tags, '('), text)
})
