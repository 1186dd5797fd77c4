import { ValidationError } from '../errors.js';

/** An ISO 4217 currency code. Make one with `currency('EUR')`. */
export type Currency = string & { readonly [currencyBrand]: true };
declare const currencyBrand: unique symbol;

/** ISO 4217:2015 active alphabetic codes (list one), funds and metals included. */
const CODES: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF ' +
    'CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP ' +
    'GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT ' +
    'LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR ' +
    'NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN ' +
    'SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF ' +
    'XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG'
  ).split(' '),
);

/** Every known code, sorted. */
export const currencyCodes: readonly string[] = Object.freeze([...CODES]);

/** True for an active ISO 4217 code, in upper case. */
export function isCurrency(code: unknown): code is Currency {
  return typeof code === 'string' && CODES.has(code);
}

/** @throws ValidationError unless `code` is an active ISO 4217 code, in upper case */
export function currency(code: string): Currency {
  if (!isCurrency(code)) {
    throw new ValidationError(`Not an ISO 4217 currency code: ${JSON.stringify(String(code).slice(0, 16))}`);
  }
  return code;
}
