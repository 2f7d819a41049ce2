/** Letters of other scripts that look as Latin ones do. */
const pairs =
  'аaеeоoрpсcуyхxіiѕsјjԁdԛqԝwкkмmтtнhвbАAВBЕEКKМMНHОOРPСCТTУYХXІIЅSЈJ' +
  'αaεeιiκkνvοoρpτtυuχxΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'
const latin: ReadonlyMap<string, string> = new Map(
  Array.from(pairs.matchAll(/(.)(.)/gu), ([, from = '', to = '']) => [from, to]),
)
const other = /[\p{Script=Cyrillic}\p{Script=Greek}]/gu

/** The text as whoever reads it overlooks that some of its letters are of another script. */
export const likeLatin = (text: string): string => text.replaceAll(other, (sign) => latin.get(sign) ?? sign)
