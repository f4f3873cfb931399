a = [==[ not closed ]=]
