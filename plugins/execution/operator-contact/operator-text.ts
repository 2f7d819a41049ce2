/**
 * What must not stand in texts about the operator, because models read them:
 * anything that reaches somebody or opens something (sessions-24). Pure. Refuses too much rather than too little: these
 * are a name and a manner of speaking.
 */
import { anyOf, looksSecret } from '../../../core/plugin.js'

interface TextRule {
  readonly what: string
  readonly pattern: RegExp
}

/** In this order: the first that matches names the fault. */
const rules: readonly TextRule[] = [
  { what: 'an e-mail address', pattern: /[^\s@<>]@[^\s@<>]+\.[^\s@<>]/u },
  { what: 'webhook details', pattern: /web[ _-]?hook|hooks\.\w/iu },
  {
    what: 'a URL',
    pattern: anyOf(
      [
        /[a-z0-9+.-]:\/\//u,
        /\bwww\./u,
        /\b(?:mailto|tel|tg|slack):\S/u,
        /[a-z0-9-]\.[a-z]{2,}(?:\/|:\d)/u,
        /[a-z0-9-]\.(?:com|org|net|io|dev|app|me|co|ai|de|uk|eu|info|chat)\b/u,
        /\b\d{1,3}(?:\.\d{1,3}){3}\b/u,
      ],
      'iu',
    ),
  },
  {
    what: 'a token',
    pattern: anyOf(
      [
        /\b(?:sk|pk|rk)[-_][\w-]{8,}/u,
        /\bxox[a-z]-\S+/u,
        /\bgh[a-z]_\w{10,}/u,
        /\bgithub_pat_\w+/u,
        /\bglpat-\S+/u,
        /\bAKIA[A-Z0-9]{8,}/u,
        /\bAIza[\w-]{10,}/u,
        /\beyJ[\w-]{8,}/u,
        /\b\d{6,}:[\w-]{20,}/u,
      ],
      'u',
    ),
  },
  { what: 'a token', pattern: /\b(?:pass(?:word|phrase)?|token|secret|(?:api[ _-]?)?key)\s*(?:is\b|[:=])\s*\S/iu },
  {
    what: 'a channel id',
    pattern:
      /\b[CDGUTW](?=[A-Z]*\d)[A-Z0-9]{7,}\b|<[#@!][^>]{1,200}>|(?:^|\s)[@#]\w{2,}|\bchannel[ _-]?(?:id)?\s*[:=#]\s*\S/u,
  },
  { what: 'a chat id', pattern: /-?\d{6,}|\+?\d(?:[ ()./-]?\d){7,}|\bchat[ _-]?id\b/iu },
  // Long runs of letters and digits mixed are no words of any language.
  { what: 'a token', pattern: /(?<![\w+/=])(?=[\w+/=]*\d)(?=[\w+/=]*[a-z])[\w+/=]{20,}/iu },
]

/** What a text holds that it must not; undefined if nothing. */
export const unsafeText = (text: string): string | undefined => {
  const plain = text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '')
  const found = rules.find(({ pattern }) => pattern.test(plain))?.what
  if (found !== undefined) return found
  if (looksSecret(plain)) return 'a token'
  return /[\p{Cc}\p{Cs}]/u.test(plain.replaceAll(/[\n\t]/gu, ' ')) ? 'a control character' : undefined
}
