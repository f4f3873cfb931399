SeLeCt * FrOm T wHeRe A iS nOt NuLl
